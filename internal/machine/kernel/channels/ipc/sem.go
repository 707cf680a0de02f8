package ipc

import (
	"math"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// SemMaxValue is the largest value of a semaphore (semop(2)).
const SemMaxValue = 32767

// SemLimits are the settings of semaphores.
type SemLimits struct{ PerSet, Total, Ops, Sets int }

var (
	semSetting = kernel.NewSetting("kernel/sem", math.MinInt32, math.MaxInt32, 32000, 1024000000, 500, 32000)
	semNext    = kernel.NewSetting("kernel/sem_next_id", 0, math.MaxInt32, -1)
)

// SemLimitsOf returns them.
func SemLimitsOf(n *kernel.Node) SemLimits {
	v := semSetting.All(n)
	return SemLimits{int(v[0]), int(v[1]), int(v[2]), int(v[3])}
}

// Sems are the node's System V semaphore sets.
type Sems struct {
	table[*SemSet]
	count int // semaphores in all sets
}

var sems = kernel.NewSlot[*kernel.Node, Sems]()

// SemsOf returns the node's semaphore sets.
func SemsOf(n *kernel.Node) *Sems { return sems.Of(n) }

func init() {
	kernel.Register("ipc", kernel.Hooks{ProcessExits: func(p *kernel.Process) { sems.Of(p.Node).Undo(p) }})
}

// SemSet is a set of semaphores.
type SemSet struct {
	Perm
	Sems []Sem
	Used int64 // last semop, ns of CLOCK_REALTIME; 0 never

	waits []*semWait    // in order of arrival
	undo  map[int][]int // by process: what its end adds to each semaphore
}

// Sem is one semaphore.
type Sem struct {
	Value int
	PID   int // of the last that changed it
}

// SemOp is a struct sembuf.
type SemOp struct{ Num, Op, Flags int }

// semWait is a thread whose operations cannot be done yet.
type semWait struct {
	t     *kernel.Thread
	set   *SemSet
	ops   []SemOp
	block SemOp // the first of them that cannot be done
}

var _ = kernel.DeclareKind[*semWait]()

func (s *SemSet) perm() *Perm { return &s.Perm }

// Open is semget.
func (s *Sems) Open(t *kernel.Thread, key, count int, flags uint32) (*SemSet, kernel.Errno) {
	set, fresh, e := s.findObject(t, key, flags)
	most := SemLimitsOf(t.Node())
	switch {
	case e != 0:
		return nil, e
	case count < 0 || count > most.PerSet || fresh && count == 0 || !fresh && count > len(set.Sems):
		return nil, unix.EINVAL
	case !fresh:
		return set, 0
	case len(s.objects) >= most.Sets || s.count+count > most.Total:
		return nil, unix.ENOSPC
	}
	set = &SemSet{Perm: NewPerm(t, key, flags), Sems: make([]Sem, count), undo: map[int][]int{}}
	s.add(t.Node(), semNext, set)
	s.count += count
	return set, 0
}

// Get returns the set with that id, or nil.
func (s *Sems) Get(id int) *SemSet {
	set, _ := s.get(id)
	return set
}

// Count is the number of semaphores in all sets.
func (s *Sems) Count() int { return s.count }

// Remove is IPC_RMID: whoever waits fails with EIDRM.
func (s *Sems) Remove(set *SemSet) {
	s.remove(set)
	s.count -= len(set.Sems)
	for len(set.waits) > 0 {
		set.waits[0].finish(unix.EIDRM)
	}
}

// Do performs all operations for t, or none. With would it has to wait for the
// operation that it returns.
func (s *SemSet) Do(t *kernel.Thread, ops []SemOp) (block SemOp, would bool, e kernel.Errno) {
	undo := s.undo[t.Proc.PID]
	if undo == nil {
		undo = make([]int, len(s.Sems))
	}
	undo = append([]int(nil), undo...)
	sems := append([]Sem(nil), s.Sems...)
	undoes := false
	for _, op := range ops {
		x := &sems[op.Num]
		if op.Op == 0 && x.Value != 0 || x.Value+op.Op < 0 {
			return op, true, 0
		}
		if x.Value += op.Op; x.Value > SemMaxValue {
			return op, false, unix.ERANGE
		}
		if op.Flags&SemUndo != 0 {
			undoes = true
			if undo[op.Num] -= op.Op; undo[op.Num] > SemMaxValue || undo[op.Num] < -SemMaxValue-1 {
				return op, false, unix.ERANGE
			}
		}
		x.PID = t.Proc.PID
	}
	s.Sems, s.Used = sems, t.Node().RealNow()
	if undoes {
		s.undo[t.Proc.PID] = undo
	}
	return SemOp{}, false, 0
}

// Wait enters t with its operations, of which block cannot be done yet.
func (s *SemSet) Wait(t *kernel.Thread, ops []SemOp, block SemOp) {
	w := &semWait{t, s, ops, block}
	t.Wait.Entry = w
	s.waits = append(s.waits, w)
}

// WaitsOnSem reports whether t waits for semaphores.
func WaitsOnSem(t *kernel.Thread) bool { _, ok := t.Wait.Entry.(*semWait); return ok }

// Leave implements WaitEntry: it ends w's wait without a result.
func (w *semWait) Leave(t *kernel.Thread) {
	t.Wait.Entry = nil
	for i, x := range w.set.waits {
		if x == w {
			w.set.waits = append(w.set.waits[:i:i], w.set.waits[i+1:]...)
			return
		}
	}
}

// finish ends w's wait; its call returns e.
func (w *semWait) finish(e kernel.Errno) {
	w.Leave(w.t)
	w.t.Wait.Woken, w.t.Wait.Aux[0] = true, uint64(e)
	w.t.Unpark()
}

// Update performs what has become possible, in order of arrival, until nothing
// more is. It is called after each change.
func (s *SemSet) Update() {
	for again := true; again; {
		again = false
		for _, w := range append([]*semWait(nil), s.waits...) {
			block, would, e := s.Do(w.t, w.ops)
			if would && block.Flags&NoWait == 0 {
				w.block = block
				continue
			}
			if would {
				e = unix.EAGAIN
			}
			w.finish(e)
			again = again || e == 0 && alters(w.ops)
		}
	}
}

func alters(ops []SemOp) bool {
	for _, op := range ops {
		if op.Op != 0 {
			return true
		}
	}
	return false
}

// Waiting counts the threads that wait for semaphore num to become zero, or to
// grow.
func (s *SemSet) Waiting(num int, zero bool) int {
	n := 0
	for _, w := range s.waits {
		if w.block.Num == num && (w.block.Op == 0) == zero {
			n++
		}
	}
	return n
}

// SetValues is SETVAL and SETALL: the values of semaphores from first on. It
// forgets what processes would undo there.
func (s *SemSet) SetValues(t *kernel.Thread, first int, values []int) kernel.Errno {
	for _, v := range values {
		if v < 0 || v > SemMaxValue {
			return unix.ERANGE
		}
	}
	for i, v := range values {
		s.Sems[first+i] = Sem{v, t.Proc.PID}
		for _, u := range s.undo {
			u[first+i] = 0
		}
	}
	s.Touch(t.Node())
	s.Update()
	return 0
}

// Undo does what process p asked to be done at its end.
func (s *Sems) Undo(p *kernel.Process) {
	for _, set := range s.All() {
		undo := set.undo[p.PID]
		if undo == nil {
			continue
		}
		delete(set.undo, p.PID)
		for i, adj := range undo {
			if adj != 0 {
				set.Sems[i] = Sem{max(0, min(SemMaxValue, set.Sems[i].Value+adj)), p.PID}
			}
		}
		set.Used = p.Node.RealNow()
		set.Update()
	}
}
