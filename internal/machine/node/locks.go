//go:build linux

package node

import "github.com/ariadne-mc/ariadne/internal/machine/kernel"

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

// breakLocks sets breakpoints at the lock functions in a program file that is mapped somewhere.
func (n *Node) breakLocks(th *thread, r *codeRange, entries map[string][]uint64) {
	for _, name := range lockFunctions {
		for _, at := range entries[name] {
			if addr, ok := r.address(at); ok {
				n.breakWith(th, addr, func(b *kernel.Break) bool {
					first := b.Lock == ""
					if first {
						b.Lock = name
					}
					return first
				})
			}
		}
	}
}
