package kernel

import "sort"

// FDTable mirrors the descriptor table of a process (files_struct): Linux owns
// the numbers, this table owns what they mean.
type FDTable struct {
	fds  map[int]fdEntry
	refs int // processes that share it (CLONE_FILES)
}

type fdEntry struct {
	file    *OpenFile
	cloexec bool
}

// NewFDTable returns an empty table used by one process.
func NewFDTable() *FDTable { return &FDTable{fds: map[int]fdEntry{}, refs: 1} }

// Shared reports whether several processes use the table.
func (t *FDTable) Shared() bool { return t.refs > 1 }

// Get returns the open file description behind fd, or nil.
func (t *FDTable) Get(fd int) *OpenFile { return t.fds[fd].file }

// CloseOnExec reports the descriptor's FD_CLOEXEC.
func (t *FDTable) CloseOnExec(fd int) bool { return t.fds[fd].cloexec }

// SetCloseOnExec changes the descriptor's FD_CLOEXEC.
func (t *FDTable) SetCloseOnExec(fd int, on bool) {
	if e, ok := t.fds[fd]; ok {
		e.cloexec = on
		t.fds[fd] = e
	}
}

// Set makes fd refer to file, taking a reference. The number must be free:
// whoever replaces one (dup2) calls Close first.
func (t *FDTable) Set(fd int, file *OpenFile, cloexec bool) {
	file.Refs++
	t.fds[fd] = fdEntry{file, cloexec}
}

// Close forgets fd. It reports whether it was open.
func (t *FDTable) Close(n *Node, fd int) bool {
	e, ok := t.fds[fd]
	if !ok {
		return false
	}
	delete(t.fds, fd)
	for i := range hooks {
		if h := hooks[i].DescriptorClosed; h != nil {
			h(n, t, e.file)
		}
	}
	e.file.Drop(n)
	return true
}

// Numbers returns the open descriptors in ascending order.
func (t *FDTable) Numbers() []int {
	s := make([]int, 0, len(t.fds))
	for fd := range t.fds {
		s = append(s, fd)
	}
	sort.Ints(s)
	return s
}

// Room reports whether a number below limit is free.
func (t *FDTable) Room(limit uint64) bool {
	if uint64(len(t.fds)) < limit {
		return true
	}
	below := uint64(0)
	for fd := range t.fds {
		if uint64(fd) < limit {
			below++
		}
	}
	return below < limit
}

// Fork returns a copy for a child process.
func (t *FDTable) Fork() *FDTable {
	c := NewFDTable()
	for _, fd := range t.Numbers() {
		e := t.fds[fd]
		c.Set(fd, e.file, e.cloexec)
	}
	return c
}

// Share adds a process to those that use t (CLONE_FILES); Leave takes one away
// and closes all descriptors with the last.
func (t *FDTable) Share() *FDTable { t.refs++; return t }

func (t *FDTable) Leave(n *Node) {
	if t.refs--; t.refs == 0 {
		for _, fd := range t.Numbers() {
			t.Close(n, fd)
		}
	}
}

// Exec closes what is marked close-on-exec.
func (t *FDTable) Exec(n *Node) {
	for _, fd := range t.Numbers() {
		if t.fds[fd].cloexec {
			t.Close(n, fd)
		}
	}
}

// OpenHostFiles calls f with the host files behind the descriptors of all processes.
func (n *Node) OpenHostFiles(f func(p *Process, fd int, h *HostFile)) {
	for _, pid := range n.PIDs() {
		p := n.Procs[pid]
		if p.FDs == nil {
			continue
		}
		for _, fd := range p.FDs.Numbers() {
			if h, ok := p.FDs.Get(fd).File.(*HostFile); ok {
				f(p, fd, h)
			}
		}
	}
}
