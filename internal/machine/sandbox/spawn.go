package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// call is one system call that the child of spawn makes. Its layout is known to
// spawn_amd64.s.
type call struct {
	nr    uintptr
	args  [6]uintptr
	ret   uintptr // what Linux answered
	flags uintptr
}

// Flags of a call.
const (
	onKept  = 1 << iota // the first argument is the kept result
	keep                // keep the result
	mayFail             // go on when it fails
	whole               // a result other than the third argument is a failure
)

// notRun is call.ret before the call: no result of Linux's.
const notRun = 1 << 62

// program is a list of system calls, made in order by a new process that shares
// Ariadne's memory until its exec: a node starts without running one line of
// Go in between.
type program struct {
	calls []call
	names []string
	held  []any // what the arguments point at
}

func (p *program) add(name string, flags uintptr, nr uintptr, args ...uintptr) {
	c := call{nr: nr, ret: notRun, flags: flags}
	copy(c.args[:], args)
	p.calls = append(p.calls, c)
	p.names = append(p.names, name)
}

// str returns the address of a NUL-terminated copy of s.
func (p *program) str(s string) uintptr { return p.bytes(append([]byte(s), 0)) }

// bytes returns the address of b, which stays where it is until the program ran.
func (p *program) bytes(b []byte) uintptr {
	if len(b) == 0 {
		b = make([]byte, 1)
	}
	p.held = append(p.held, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

// content returns the address of s, which is not terminated.
func (p *program) content(s string) uintptr {
	p.held = append(p.held, s)
	return uintptr(unsafe.Pointer(unsafe.StringData(s)))
}

// strs returns the address of a NULL-terminated array of strings.
func (p *program) strs(s []string) uintptr {
	v := make([]uintptr, len(s)+1)
	for i, x := range s {
		v[i] = p.str(x)
	}
	p.held = append(p.held, v)
	return uintptr(unsafe.Pointer(&v[0]))
}

// hold keeps a value alive and returns its address.
func hold[T any](p *program, v *T) uintptr {
	p.held = append(p.held, v)
	return uintptr(unsafe.Pointer(v))
}

// spawn clones with the given flags; the child makes the n calls and exits with
// status 127 when one fails or the last has returned.
//
//go:noescape
func spawn(flags uintptr, calls *call, n uintptr) (pid uintptr)

// start runs the program in a new process and returns its pid: it lives on as
// what its last call executed, or the error says which call failed. The calling
// goroutine must be locked to its thread.
func (p *program) start() (int, error) {
	pid, err := p.clone()
	if err != nil {
		return 0, err
	}
	ws, err := wait(pid)
	switch {
	case err != nil:
		return 0, err
	case ws.Stopped():
		return pid, nil
	}
	return 0, p.failure(ws)
}

// launch likewise, but of what became of the process nothing is taken that it tells by wait, also
// when it is traced. The program has one exec, its last call.
func (p *program) launch() (int, error) {
	pid, err := p.clone()
	if err != nil {
		return 0, err
	}
	// A call that has returned is not the exec that has gone well, and none comes after one that
	// was not made.
	last := len(p.calls) - 1
	if p.calls[last].ret == notRun && p.calls[last-1].ret == 0 {
		return pid, nil
	}
	ws, err := wait(pid)
	if err != nil {
		return 0, err
	}
	return 0, p.failure(ws)
}

// clone runs the program in a new process, up to its exec or its end.
func (p *program) clone() (pid int, err error) {
	all := unix.Sigset_t{Val: [16]uint64{^uint64(0)}}
	var old unix.Sigset_t
	// A signal handler would run on the stack that both share.
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &old); err != nil {
		return 0, err
	}
	r := spawn(unix.CLONE_VM|unix.CLONE_VFORK|uintptr(unix.SIGCHLD), &p.calls[0], uintptr(len(p.calls)))
	unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
	runtime.KeepAlive(p)
	if e := errnoOf(r); e != 0 {
		return 0, fmt.Errorf("clone: %w", e)
	}
	return int(r), nil
}

// wait waits for a process's next stop, or its end.
func wait(pid int) (ws unix.WaitStatus, err error) {
	for {
		if _, err := unix.Wait4(pid, &ws, unix.WALL, nil); err != unix.EINTR {
			return ws, err
		}
	}
}

// failure says why the child did not reach its exec.
func (p *program) failure(ws unix.WaitStatus) error {
	last := 0
	for last+1 < len(p.calls) && p.calls[last+1].ret != notRun {
		last++
	}
	if ws.Exited() && ws.ExitStatus() == 127 {
		e := errnoOf(p.calls[last].ret)
		if e == 0 {
			e = unix.ENOSPC // a short write
		}
		return fmt.Errorf("%s: %w", p.names[last], e)
	}
	return fmt.Errorf("%s: ended with wait status %#x", p.names[last], int(ws))
}

func errnoOf(r uintptr) unix.Errno {
	if r > ^uintptr(4095) {
		return unix.Errno(-r)
	}
	return 0
}
