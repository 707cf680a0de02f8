package unixsock

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// flights are how many descriptors each user has in messages that nobody has received.
type flights struct{ count map[int]int }

var flightsOf = kernel.NewSlot[*kernel.Node, flights]()

func (f *flights) add(user, n int) {
	if f.count == nil {
		f.count = map[int]int{}
	}
	if f.count[user] += n; f.count[user] == 0 {
		delete(f.count, user)
	}
}

// tooManyInFlight reports whether t may send no more descriptors: its user has more in flight than
// a process may have open (unix(7), ETOOMANYREFS).
func tooManyInFlight(t *kernel.Thread) bool {
	most, _ := t.Proc.Rlimit(unix.RLIMIT_NOFILE)
	f := flightsOf.Peek(t.Node())
	return f != nil && uint64(f.count[t.Cred.UID.Real]) > most && !t.Capable(unix.CAP_SYS_RESOURCE) &&
		!t.Capable(unix.CAP_SYS_ADMIN)
}
