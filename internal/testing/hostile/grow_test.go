package hostile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// group is a control group that bounds and measures the memory of one run.
type group struct{ dir, limit, peak string }

// newGroup makes one for a user; nil: there are none here.
func newGroup(t *testing.T, user int, limit int64) *group {
	for _, g := range []group{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"},
		{"/sys/fs/cgroup", "memory.max", "memory.peak"},
	} {
		dir, err := os.MkdirTemp(g.dir, "hostile")
		if err != nil {
			continue
		}
		g.dir = dir
		err = errors.Join(os.WriteFile(filepath.Join(dir, g.limit), []byte(fmt.Sprint(limit)), 0), os.Chmod(dir, 0o755),
			os.Chown(filepath.Join(dir, "cgroup.procs"), user, -1))
		if err == nil {
			_, err = os.Stat(filepath.Join(dir, g.peak))
		}
		if err != nil {
			os.Remove(dir)
			continue
		}
		t.Cleanup(func() {
			for range 50 { // the last process may still be on its way out
				if os.Remove(dir) == nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
			t.Errorf("%s cannot be removed", dir)
		})
		return &g
	}
	return nil
}

// enter are shell commands that enter the group.
func (g *group) enter() string {
	return "echo $$ > " + filepath.Join(g.dir, "cgroup.procs") + " || exit 9"
}

// used is the most that was in use, in bytes.
func (g *group) used(t *testing.T) int64 {
	b, err := os.ReadFile(filepath.Join(g.dir, g.peak))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestGrow: objects of a node's kernel count as the node's memory. A program meets the limit that
// Linux has for them, or the check stops.
func TestGrow(t *testing.T) {
	const (
		memory  = 64 << 20
		tried   = 500 // MiB
		heavy   = "hold more than 32 MiB"
		files   = "more than 64 MiB of files"
		log     = "takes more than 32 MiB"
		transit = "that have not arrived take more than 32 MiB"
	)
	cases := []struct {
		kind, want string
		as         string // whose the node's program is; "": root's
		spec       string // further lines of the spec
		other      string // what another node does; "": there is none
		long       bool
	}{
		{kind: "shm", want: "shm: 64 MiB, Cannot allocate memory"},
		{kind: "tcp", want: "MiB, Resource temporarily unavailable"},
		{kind: "again", want: "MiB, Resource temporarily unavailable"},
		{kind: "transit", want: transit, spec: "latency: 1s\n", other: "sink"},
		{kind: "unheard", want: heavy, other: "deaf"},
		{kind: "udp", want: "MiB, all"}, // datagrams are lost
		{kind: "stream", want: heavy},
		{kind: "pipe", want: heavy},
		{kind: "msg", want: heavy},
		{kind: "mq", want: heavy},
		{kind: "mq", want: "mq: 0 MiB, Too many open files", as: ", user: 65534"},
		{kind: "rights", want: heavy},
		{kind: "memfd", want: files},
		{kind: "tmpfile", want: files},
		{kind: "log", want: log, spec: "faults: {power: {count: 1, nodes: [n1]}}\n"},
		{kind: "epoll", want: "MiB, No space left on device"},
		{kind: "datagram", want: heavy, long: true},
		{kind: "largepipe", want: heavy, long: true},
		{kind: "backlog", want: heavy, long: true},
		{kind: "corked", want: heavy, long: true},
		{kind: "inotify", want: heavy, long: true},
		{kind: "netlink", want: heavy, long: true},
		{kind: "sockets", want: heavy, long: true},
		{kind: "timers", want: heavy, long: true},
	}
	for _, c := range cases {
		if c.long && os.Getenv("ARIADNE_LONG") == "" {
			continue
		}
		for _, user := range users() {
			status := 0
			if c.want == heavy || c.want == files || c.want == log || c.want == transit {
				status = 3
			}
			if c.as != "" && user != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s%s/%d", c.kind, c.as, user), func(t *testing.T) {
				n := node{source: "grow", spec: c.spec, args: []string{c.kind, fmt.Sprint(tried)}, user: user,
					of: ", memory: 64M, disk: 64M" + c.as, wait: 3 * time.Minute}
				if c.other != "" {
					n.other = []string{c.other, fmt.Sprint(tried)}
				}
				g := newGroup(t, user, 16*memory)
				if g != nil {
					n.limits = g.enter()
				}
				o := n.run(t)
				if o.status != status || !strings.Contains(o.out, c.want) || o.peak > 4*memory>>10 {
					t.Errorf("status %d after %v, %d KiB of memory:\n%s", o.status, o.took, o.peak, last(o.out))
				}
				if g == nil {
					t.Log("no control groups here: what lies outside of Ariadne is not measured")
				} else if used := g.used(t); used > 5*memory {
					t.Errorf("%d MiB of memory were in use", used>>20)
				}
			})
		}
	}
}
