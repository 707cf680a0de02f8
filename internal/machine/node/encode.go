//go:build linux

package node

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
)

// What a checkpoint is besides its frozen processes has an encoding: the node's state, with what
// its files hold, and the registers of its threads. Of the processes stay behind what only Linux
// has: pages, mappings, descriptors.
//
// Equal checkpoints have equal bytes, but for what is the host's own: numbers of devices, and
// registers that hold what nobody looks at.

// record is a checkpoint as data.
type record struct {
	state *state
	procs []frozenThreads
}

// records is made when all kinds of objects are known.
var records = sync.OnceValue(kernel.NewCodec[record])

// Encode returns the checkpoint as bytes, but for its processes.
func (c *Checkpoint) Encode() ([]byte, error) {
	r := &record{state: c.state.Copy()}
	r.procs = append(r.procs, c.threads...)
	b, err := records().Encode(r)
	if err != nil {
		return nil, fmt.Errorf("node %s: encode a checkpoint: %w", c.cfg.Name, err)
	}
	return b, nil
}

// ThawAs makes a node that goes on from an encoded checkpoint. Its processes have the pages, the
// mappings and the descriptors of c's, which must be those of the same moment.
func (c *Checkpoint) ThawAs(b []byte) (n *Node, err error) {
	r, err := records().Decode(b)
	if err == nil {
		err = c.fits(r)
	}
	if err != nil {
		return nil, fmt.Errorf("node %s: decode a checkpoint: %w", c.cfg.Name, err)
	}
	defer c.recoverTool(&err)
	as := *c
	as.threads = r.procs
	n = &Node{setup: c.setup, home: c.home}
	n.home.users++
	n.inhabit(&as, r.state)
	return n, nil
}

// fits reports why c has not the processes of an encoded checkpoint.
func (c *Checkpoint) fits(r *record) error {
	if r.state == nil || r.state.k == nil || len(r.state.k.Carried) != len(c.carried) {
		return errors.New("it has other files on their way between processes")
	}
	if !slices.EqualFunc(c.threads, r.procs, func(ours, threads frozenThreads) bool {
		return slices.EqualFunc(ours, threads, func(a, b frozenThread) bool {
			return a.tid == b.tid && a.dead == b.dead && b.ctx != nil
		})
	}) {
		return errors.New("it has other processes and threads")
	}
	return nil
}
