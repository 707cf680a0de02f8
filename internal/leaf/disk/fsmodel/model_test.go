package fsmodel

import "testing"

func TestCounts(t *testing.T) {
	t.Log(len(Workloads(1)), len(Workloads(2)))
}
