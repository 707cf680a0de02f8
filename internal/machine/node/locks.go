//go:build linux

package node

import (
	"cmp"
	"debug/elf"
	"slices"
	"sync"

	"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
)

// lockFunctions are functions of the C library by which threads wait for each other. A lock that
// is free is taken and given back without a call, so the entries of these functions are places
// where a thread may be late. All other lock functions are made of these (C11, C++).
//
// Spin locks are left out. A late thread that holds one would let the others run without a call.
var lockFunctions = []string{
	"pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_timedlock", "pthread_mutex_clocklock",
	"pthread_mutex_unlock",
	"pthread_rwlock_rdlock", "pthread_rwlock_tryrdlock", "pthread_rwlock_timedrdlock", "pthread_rwlock_clockrdlock",
	"pthread_rwlock_wrlock", "pthread_rwlock_trywrlock", "pthread_rwlock_timedwrlock", "pthread_rwlock_clockwrlock",
	"pthread_rwlock_unlock",
	"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait",
	"pthread_cond_signal", "pthread_cond_broadcast",
	"sem_wait", "sem_trywait", "sem_timedwait", "sem_clockwait", "sem_post", "sem_getvalue",
}

// goLockFunctions are those of Go's package sync, and what its compiler makes of operations on
// channels. The compiler puts copies of the first ones into their callers, which begin at places,
// too. sync.Once and the locks of internal/sync use these. Locks of the runtime and of
// internal/poll are left out: each guards work of the scheduler, or a call, which is a place
// itself.
var goLockFunctions = []string{
	"sync.(*Mutex).Lock", "sync.(*Mutex).TryLock", "sync.(*Mutex).Unlock",
	"sync.(*RWMutex).RLock", "sync.(*RWMutex).TryRLock", "sync.(*RWMutex).RUnlock",
	"sync.(*RWMutex).Lock", "sync.(*RWMutex).TryLock", "sync.(*RWMutex).Unlock",
	"sync.(*Cond).Wait", "sync.(*Cond).Signal", "sync.(*Cond).Broadcast",
	"sync.(*WaitGroup).Add", "sync.(*WaitGroup).Wait",
	"runtime.chansend1", "runtime.chanrecv1", "runtime.chanrecv2", "runtime.closechan",
	"runtime.selectgo", "runtime.selectnbsend", "runtime.selectnbrecv",
}

// lockEntry is where a lock function begins in a program file.
type lockEntry struct {
	offset   uint64
	was      byte // what is there without a breakpoint
	function string
}

// lockTables are the lock functions of program files, each in the order of offsets. There are
// thousands in a large program of Go, so that all processes share them. The first table is that of
// files without any.
var lockTables struct {
	mu  sync.Mutex
	all [][]lockEntry
}

// locksOf and goLocksOf are the tables of program files.
var (
	locksOf = programs[int]{find: func(f *elf.File) int {
		var all []lockEntry
		entries := entriesIn(f)
		for _, name := range lockFunctions {
			for _, at := range entries[name] {
				all = append(all, lockEntry{offset: at, function: name})
			}
		}
		return addLocks(f, all)
	}}
	goLocksOf = programs[int]{find: func(f *elf.File) int {
		var all []lockEntry
		for _, b := range debuginfo.Beginnings(f, goLockFunctions) {
			if at, ok := offsetOf(f, b.Addr); ok {
				all = append(all, lockEntry{offset: at, function: b.Function})
			}
		}
		return addLocks(f, all)
	}}
)

// addLocks adds a file's table.
func addLocks(f *elf.File, table []lockEntry) int {
	if len(table) == 0 {
		return 0
	}
	for i := range table {
		e := &table[i]
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD && p.Off <= e.offset && e.offset < p.Off+p.Filesz {
				var b [1]byte
				if _, err := p.ReadAt(b[:], int64(e.offset-p.Off)); err == nil {
					e.was = b[0]
				}
			}
		}
	}
	slices.SortStableFunc(table, func(a, b lockEntry) int { return cmp.Compare(a.offset, b.offset) })
	table = slices.CompactFunc(table, func(a, b lockEntry) bool { return a.offset == b.offset })
	t := &lockTables
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = [][]lockEntry{nil}
	}
	t.all = append(t.all, table)
	return len(t.all) - 1
}

func lockTable(i int) []lockEntry {
	t := &lockTables
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all[i]
}

// breakLocks sets breakpoints at the lock functions in a program file that is mapped somewhere.
func (n *Node) breakLocks(th *thread, r *codeRange) {
	n.breakTable(th, r, locksOf.of(th, r.file))
	// With one processor Go runs one goroutine at a time, and none can be faster at a place.
	if n.k.CPUs > 1 {
		n.breakTable(th, r, goLocksOf.of(th, r.file))
	}
}

func (n *Node) breakTable(th *thread, r *codeRange, table int) {
	if table == 0 {
		return
	}
	p, set := th.k.Proc, false
	for _, e := range lockTable(table) {
		var b [1]byte
		addr, ok := r.address(e.offset)
		if !ok || th.tr.Peek(addr, b[:]) != 0 || b[0] != e.was && b[0] != breakpoint {
			continue
		}
		if b[0] != breakpoint {
			n.paging.noteChange(th.tr.PID) // its page is not one that the program may write
			th.tr.Poke(addr, []byte{breakpoint})
		}
		set = true
	}
	code := kernel.LockCode{Start: r.start, End: r.end, Offset: r.offset, Table: table}
	if set && !slices.Contains(p.Locks, code) {
		p.Locks = append(slices.Clip(p.Locks), code) // others may share it
	}
}

// lockAt is the lock function at whose entry an address is, or nil.
func lockAt(p *kernel.Process, addr uint64) *lockEntry {
	for i := range p.Locks {
		c := &p.Locks[i]
		if addr < c.Start || addr >= c.End {
			continue
		}
		table := lockTable(c.Table)
		k, ok := slices.BinarySearchFunc(table, addr-c.Start+c.Offset, func(e lockEntry, at uint64) int {
			return cmp.Compare(e.offset, at)
		})
		if ok {
			return &table[k]
		}
	}
	return nil
}
