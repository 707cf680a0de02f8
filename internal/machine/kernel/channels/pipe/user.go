package pipe

import (
	"math"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// The limits of the pipes of one user without privileges (pipe(7), "/proc files").
var (
	softPages = kernel.NewSetting("fs/pipe-user-pages-soft", 0, math.MaxInt64, 16384)
	hardPages = kernel.NewSetting("fs/pipe-user-pages-hard", 0, math.MaxInt64, 0)
)

// fewSlots is what a pipe has whose user has too many pages.
const fewSlots = 2

// users are the pages that the pipes of each user may hold.
type users struct{ pages map[int]int }

var usersOf = kernel.NewSlot[*kernel.Node, users]()

func (u *users) add(user, pages int) {
	if u.pages == nil {
		u.pages = map[int]int{}
	}
	if u.pages[user] += pages; u.pages[user] == 0 {
		delete(u.pages, user)
	}
}

func privileged(t *kernel.Thread) bool {
	return t.Capable(unix.CAP_SYS_RESOURCE) || t.Capable(unix.CAP_SYS_ADMIN)
}

// over reports whether so many pages are more than a setting allows.
func over(n *kernel.Node, limit *kernel.Setting, pages int) bool {
	most := limit.Of(n)
	return most > 0 && int64(pages) > most
}

// takeSlots is how many slots a new pipe of t's user gets.
func takeSlots(t *kernel.Thread) (int, kernel.Errno) {
	n, user, slots := t.Node(), t.Cred.UID.Real, Slots
	if most := maxSize.Of(n); Slots*pageSize > most && !t.Capable(unix.CAP_SYS_RESOURCE) {
		slots = int(most / pageSize)
	}
	u := usersOf.Of(n)
	if !privileged(t) {
		if over(n, softPages, u.pages[user]+slots) {
			slots = fewSlots
		}
		if over(n, hardPages, u.pages[user]+slots) {
			return 0, unix.ENFILE
		}
	}
	u.add(user, slots)
	return slots, 0
}

// tooMany reports whether p's user would have too many pages if p had so many slots.
func (p *Pipe) tooMany(t *kernel.Thread, slots int) bool {
	n := t.Node()
	pages := usersOf.Of(n).pages[p.user] - p.slots + slots
	return !privileged(t) && (over(n, softPages, pages) || over(n, hardPages, pages))
}

// forget drops a pipe that nobody has open, with its bytes.
func forget(n *kernel.Node, p *Pipe) {
	if p.readers > 0 || p.writers > 0 {
		return
	}
	usersOf.Of(n).add(p.user, -p.slots)
	p.slots, p.bufs = 0, nil
	forgetFIFO(n, p)
}
