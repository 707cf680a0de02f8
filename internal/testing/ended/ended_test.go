package ended_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/testing/ended"
)

// TestWithin: a process that runs has not ended, and one that was killed has: as a zombie, and when
// it is gone.
func TestWithin(t *testing.T) {
	if ended.Within(os.Getpid(), 20*time.Millisecond) {
		t.Error("the test itself has ended")
	}
	p := exec.Command("sleep", "1000")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	pid := p.Process.Pid
	go p.Process.Kill()
	for _, state := range []string{"killed", "a zombie"} {
		if !ended.Within(pid, time.Minute) {
			t.Errorf("%s, and goes on", state)
		}
	}
	p.Wait()
	if !ended.Within(pid, 0) {
		t.Error("gone, and goes on")
	}
}
