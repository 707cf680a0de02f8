package pipe

import (
	"slices"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// fifoOpen is a thread that waits in open(2) for the other side. Its end counts
// already: that is what lets the other side's open return.
type fifoOpen struct {
	thread *kernel.Thread
	end    *End
	opens  int // the other side's count of openings when it began to wait
}

// fifos are a node's named pipes that are open, in order of opening.
type fifos struct{ open []*Pipe }

var named = kernel.NewSlot[*kernel.Node, fifos]()

func init() {
	kernel.Register("pipe", kernel.Hooks{ThreadExits: func(t *kernel.Thread) { abandonOpens(t.Node(), t) }})
}

// OpenNamed opens the named pipe that lies at key (fifo(7)). When wait is not
// nil the call must block on it and go on with ResumeOpen.
func OpenNamed(n *kernel.Node, t *kernel.Thread, key inode.Key, flags int) (end *End, wait *kernel.Queue,
	e kernel.Errno) {
	p, e := fifo(t, key)
	if e != 0 {
		return nil, nil, e
	}
	acc := flags & unix.O_ACCMODE
	if acc == unix.O_WRONLY && flags&unix.O_NONBLOCK != 0 && p.readers == 0 {
		forget(n, p)
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

// ResumeOpen goes on with the open in which t waits, wherever the name leads by now. ok is false if
// there is none.
func ResumeOpen(n *kernel.Node, t *kernel.Thread) (end *End, wait *kernel.Queue, ok bool) {
	for _, p := range named.Of(n).open {
		for i, o := range p.opening {
			if o.thread == t {
				end, wait = resumeOpen(n, p, i)
				return end, wait, true
			}
		}
	}
	return nil, nil, false
}

// resumeOpen goes on with the i-th waiting open.
func resumeOpen(n *kernel.Node, p *Pipe, i int) (*End, *kernel.Queue) {
	o := p.opening[i]
	opens := p.writerOpens
	if o.end.Writes {
		opens = p.readerOpens
	}
	if opens != o.opens {
		p.opening = append(p.opening[:i:i], p.opening[i+1:]...)
		return o.end, nil
	}
	if o.thread.Wait.Interrupted {
		abandonOpen(n, p, i)
	}
	return nil, &p.read
}

// abandonOpen takes the i-th waiting open back.
func abandonOpen(n *kernel.Node, p *Pipe, i int) {
	end := p.opening[i].end
	p.opening = append(p.opening[:i:i], p.opening[i+1:]...)
	end.Release(n)
}

// abandonOpens takes back the opens in which a thread that dies waits.
func abandonOpens(n *kernel.Node, t *kernel.Thread) {
	for _, p := range slices.Clone(named.Of(n).open) {
		for i, o := range p.opening {
			if o.thread == t {
				abandonOpen(n, p, i)
				break
			}
		}
	}
}

// fifo returns the pipe of the named pipe at key, which exists while it is open.
func fifo(t *kernel.Thread, key inode.Key) (*Pipe, kernel.Errno) {
	all := named.Of(t.Node())
	for _, p := range all.open {
		if p.fifo == key {
			return p, 0
		}
	}
	p, e := newPipe(t, key)
	if e != 0 {
		return nil, e
	}
	all.open = append(all.open, p)
	return p, 0
}

// forgetFIFO takes a pipe off the named pipes that are open.
func forgetFIFO(n *kernel.Node, p *Pipe) {
	if all := named.Peek(n); all != nil {
		all.open = slices.DeleteFunc(all.open, func(x *Pipe) bool { return x == p })
	}
}
