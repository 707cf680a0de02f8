package child_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/testing/ended"
	"github.com/ariadne-mc/ariadne/tools/child"
)

// TestMain is also who has children: it starts one, which starts another, and says who
// they are.
func TestMain(m *testing.M) {
	if os.Getenv("CHILD_TEST_PARENT") == "" {
		os.Exit(m.Run())
	}
	ctx, stop := child.UntilAsked()
	defer stop()
	cmd := child.Command(ctx, "sh", "-c", "sleep 1000 & echo $$ $!; wait")
	cmd.Stdout = os.Stdout
	fmt.Fprintln(os.Stderr, cmd.Run())
}

func TestChildrenEnd(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
		p := exec.Command(os.Args[0])
		p.Env = append(os.Environ(), "CHILD_TEST_PARENT=1")
		out, err := p.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 100)
		n, err := out.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		pids := strings.Fields(string(b[:n]))
		p.Process.Signal(sig)
		p.Wait()
		if sig == syscall.SIGKILL {
			// What the child has started is its own to end.
			last, _ := strconv.Atoi(pids[1])
			defer syscall.Kill(last, syscall.SIGKILL)
			pids = pids[:1]
		}
		for _, text := range pids {
			pid, err := strconv.Atoi(text)
			if err != nil || !ended.Within(pid, 10*time.Second) {
				t.Errorf("%v: process %s goes on", sig, text)
			}
		}
	}
}

func TestCommand(t *testing.T) {
	if out, err := child.Command(context.Background(), "echo", "a", "b").Output(); err != nil ||
		string(out) != "a b\n" {
		t.Errorf("%q, %v", out, err)
	}
}
