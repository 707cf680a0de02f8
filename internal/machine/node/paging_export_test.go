//go:build linux

package node

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
)

// Differences says what of the processes of a node that was restored differs from those of a copy
// that goes on from the same checkpoint: mappings, memory, registers, descriptors.
func (n *Node) Differences(c *Checkpoint) (all []string, err error) {
	m, err := c.Thaw()
	if err != nil {
		return nil, err
	}
	for i, p := range n.processes() {
		q := m.processes()[i]
		x, y := p.threads[0], q.threads[0]
		if a, b := joinedMaps(x), joinedMaps(y); a != b {
			all = append(all, fmt.Sprintf("process %d has the mappings\n%s and not\n%s", i, a, b))
		}
		for v := range procmaps.All(y.maps()) {
			const huge = 64 << 20 // what Go and others reserve is mostly empty
			if !v.Shared() && v.End-v.Start <= huge {
				all = append(all, memoryDiffers(x, y, v)...)
			}
		}
		for k := range p.threads {
			a, err1 := p.threads[k].tr.Save()
			b, err2 := q.threads[k].tr.Save()
			if err1 != nil || err2 != nil {
				return nil, fmt.Errorf("registers: %v, %v", err1, err2)
			}
			if *a.Registers() != *b.Registers() || !bytes.Equal(a.Extended(), b.Extended()) ||
				p.threads[k].tr.SigMask() != q.threads[k].tr.SigMask() {
				all = append(all,
					fmt.Sprintf("thread %d of process %d has the registers %+v and not %+v", k, i, a.Registers(),
						b.Registers()))
			}
		}
		if a, b := descriptorsOf(x), descriptorsOf(y); a != b {
			all = append(all, fmt.Sprintf("process %d has the descriptors %s and not %s", i, a, b))
		}
	}
	return all, m.Close()
}

// joinedMaps is /proc/PID/maps as programs see it: adjacent mappings of the same kind are one.
// Whether Linux has joined them depends on which processes have been copied.
func joinedMaps(th *thread) string {
	var all []string
	var end uint64
	var kind string
	for m := range procmaps.All(th.maps()) {
		k := fmt.Sprintf("%s %x %d %s", m.Perms, m.Dev, m.Inode, strings.TrimSuffix(m.Name, "[heap]"))
		if m.Inode != 0 {
			k += fmt.Sprintf(" at %#x", m.Offset-m.Start)
		}
		if len(all) > 0 && m.Start == end && k == kind {
			all = all[:len(all)-1]
		} else {
			all, kind = append(all, fmt.Sprintf("from %x %s", m.Start, k)), k
		}
		all, end = append(all, fmt.Sprintf("to %x", m.End)), m.End
	}
	return strings.Join(all, "\n")
}

func memoryDiffers(x, y *thread, v procmaps.Mapping) (all []string) {
	const most = 64 * pageSize
	for at, step := v.Start, uint64(0); at < v.End; at += step {
		step = min(most, v.End-at)
		p, q := make([]byte, step), make([]byte, step)
		if e, f := x.tr.Peek(at, p), y.tr.Peek(at, q); e != f || !bytes.Equal(p, q) {
			all = append(all, fmt.Sprintf("memory from %#x to %#x (%v, %v)", at, at+step, e, f))
		}
	}
	return all
}

func descriptorsOf(th *thread) string {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", th.tr.PID))
	all := fmt.Sprint(err)
	for _, e := range entries {
		all += " " + e.Name()
	}
	return all
}

// CanFollow reports whether this machine tells which pages are written, as far as is known.
func CanFollow() bool { return !cannotFollow.Load() }

// Config is what the node was started with.
func (n *Node) Config() Config { return n.cfg }

// Origin is the same for all checkpoints that refer to the same forks. The first of them is that of
// the moment at which these were made.
func (c *Checkpoint) Origin() any { return c.forks.origin }
