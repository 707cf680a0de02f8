package kernel

import (
	"slices"

	"golang.org/x/sys/unix"
)

// fifoOpen is a thread that waits in open(2) for the other side. Its end counts
// already: that is what lets the other side's open return.
type fifoOpen struct {
	thread *Thread
	end    *PipeEnd
	opens  int // the other side's count of openings when it began to wait
}

// fifos are a node's named pipes that are open, in order of opening.
type fifos struct{ open []*Pipe }

var named = NewSlot[*Node, fifos]()

func init() { Register(Hooks{ThreadExits: func(t *Thread) { t.Node().AbandonOpens(t) }}) }

// OpenFIFO opens the named pipe that lies at key (fifo(7)). When wait is not
// nil the call must block on it and come here again.
func (n *Node) OpenFIFO(t *Thread, key FileKey, flags int) (end *PipeEnd, wait *Queue, e Errno) {
	p := n.fifo(key)
	for i, o := range p.opening {
		if o.thread == t {
			return n.resumeOpen(p, i)
		}
	}
	acc := flags & unix.O_ACCMODE
	if acc == unix.O_WRONLY && flags&unix.O_NONBLOCK != 0 && p.readers == 0 {
		n.forgetFIFO(p)
		return nil, nil, unix.ENXIO
	}
	end = p.end(acc != unix.O_WRONLY, acc != unix.O_RDONLY)
	end.Packets = flags&unix.O_DIRECT != 0
	switch {
	case acc == unix.O_RDONLY && p.writers == 0 && flags&unix.O_NONBLOCK != 0:
		end.writersSeen = p.writerOpens
		return end, nil, 0
	case acc == unix.O_RDONLY && p.writers == 0:
		p.opening = append(p.opening, fifoOpen{t, end, p.writerOpens})
		return nil, &p.read, 0
	case acc == unix.O_WRONLY && p.readers == 0:
		p.opening = append(p.opening, fifoOpen{t, end, p.readerOpens})
		return nil, &p.read, 0
	}
	return end, nil, 0
}

// resumeOpen goes on with the i-th waiting open.
func (n *Node) resumeOpen(p *Pipe, i int) (*PipeEnd, *Queue, Errno) {
	o := p.opening[i]
	opens := p.writerOpens
	if o.end.Writes {
		opens = p.readerOpens
	}
	if opens != o.opens {
		p.opening = append(p.opening[:i:i], p.opening[i+1:]...)
		return o.end, nil, 0
	}
	if o.thread.Wait.Interrupted {
		n.abandonOpen(p, i)
	}
	return nil, &p.read, 0
}

// abandonOpen takes the i-th waiting open back.
func (n *Node) abandonOpen(p *Pipe, i int) {
	end := p.opening[i].end
	p.opening = append(p.opening[:i:i], p.opening[i+1:]...)
	end.Release(n)
}

// AbandonOpens takes back the opens in which a thread that dies waits.
func (n *Node) AbandonOpens(t *Thread) {
	for _, p := range slices.Clone(named.Of(n).open) {
		for i, o := range p.opening {
			if o.thread == t {
				n.abandonOpen(p, i)
				break
			}
		}
	}
}

// fifo returns the pipe of the named pipe at key, which exists while it is open.
func (n *Node) fifo(key FileKey) *Pipe {
	for _, p := range named.Of(n).open {
		if p.fifo == key {
			return p
		}
	}
	p := &Pipe{ID: n.Sequence(), slots: PipeSlots, fifo: key}
	all := named.Of(n)
	all.open = append(all.open, p)
	return p
}

// forgetFIFO drops a named pipe that nobody has open, with its bytes.
func (n *Node) forgetFIFO(p *Pipe) {
	if p.readers > 0 || p.writers > 0 {
		return
	}
	if all := named.Peek(n); all != nil {
		all.open = slices.DeleteFunc(all.open, func(x *Pipe) bool { return x == p })
	}
}
