//go:build linux

package node

import (
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
)

// TestManyThreadsEnd: the end of a process with many threads does not look at its memory for each
// of them, nor does that of each of its threads, which wakes who waits for it: with memory that
// others share too.
func TestManyThreadsEnd(t *testing.T) {
	const common = "import ctypes,mmap,os,threading,time\nthreading.stack_size(65536)\nl=ctypes.CDLL(None)\nm=mmap.mmap(-1,4096)\na=ctypes.addressof(ctypes.c_int.from_buffer(m))\n" +
		"def wait(): l.syscall(202,ctypes.c_void_p(a),0,0,None,None,0)\n" +
		"def many(f):\n  all=[threading.Thread(target=f,daemon=True) for i in range(300)]\n  for x in all: x.start()\n  time.sleep(1)\n  return all\n"
	for _, c := range []struct {
		name, program, want string
		most                int
	}{
		{"process", common + "many(lambda:time.sleep(9))\nprint('end',flush=True);os._exit(0)\n", "end", 0},
		{"threads", common + "for x in many(lambda:time.sleep(2)): x.join()\nprint('end',flush=True)\n", "end", 0},
		// One waits in memory that is shared.
		{"shared", common + "if os.fork()==0: wait();print('woken',flush=True);os._exit(0)\nmany(lambda:time.sleep(9));l.syscall(202,ctypes.c_void_p(a),1,9,None,None,0)\n" +
			"if os.fork()==0: wait()\ntime.sleep(1);print('end',flush=True);os._exit(0)\n", "woken end", 8},
	} {
		n := started(t, "/usr/bin/python3", "-c", c.program)
		n.cfg.Limits.Calls = 1_000_000
		out, err := n.Apply(ariadne.Input{Kind: ariadne.Start})
		var lines []string
		for err == nil {
			for _, l := range out.Logs {
				lines = append(lines, l.Text)
			}
			if out.Done || out.Deadline == ariadne.Never {
				break
			}
			out, err = n.Apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
		}
		if got := strings.Join(lines, " "); err != nil || got != c.want || n.layout.read > c.most {
			t.Errorf("%s: %q, %v, memory looked at %d times", c.name, got, err, n.layout.read)
		}
	}
}
