package trace

import (
	"fmt"
	"testing"
)

// TestLostOperations: how many operations were lost is read from the comment that lists some of
// them.
func TestLostOperations(t *testing.T) {
	var many []string
	for i := range 3 * maxLost {
		many = append(many, fmt.Sprint("creation of f", i))
	}
	for _, words := range [][]string{nil, {"sync"},
		{"fallocate of f, 0 to 5 bytes", "3 of 4 parts of write of 9 bytes at 0 to f"},
		{"shift of f at 3, 9 to 4 bytes"}, many, many[:maxLost+1]} {
		s := Step{Lost: lost(words)}
		if n := s.LostOperations(); n != len(words) {
			t.Errorf("%q: %d operations, want %d", s.Lost, n, len(words))
		}
	}
}
