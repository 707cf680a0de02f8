package memo

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// Freezable is a living node at one local state. Any number of instances and
// checkpoints of a node may exist; at most one of them runs at a time.
type Freezable interface {
	Instance
	// Freeze makes a checkpoint and leaves the instance as it is. An error that
	// wraps ariadne.ErrNotFreezable says that it cannot be made in this state. One that wraps
	// ariadne.ErrLost, from here or from Apply, says that the instance cannot go on.
	Freeze() (Frozen, error)
	// RecordCalls says whether outputs have their CallTrace from now on.
	RecordCalls(on bool)
	// Ahead says whether outputs may have Others from now on.
	Ahead(on bool)
}

// Restorable is an instance that can go back to a checkpoint of the node that it is an instance of.
type Restorable interface {
	// CanRestore reports whether a checkpoint is of the same start of the node.
	CanRestore(Frozen) bool
	// Restore has the instance go on from a checkpoint; the checkpoint stays. inPlace: it has kept
	// its processes. An error leaves an instance that can only be closed.
	Restore(Frozen) (inPlace bool, err error)
}

// Frozen is a checkpoint: an instance that stands still.
type Frozen interface {
	Thaw() (Freezable, error) // an instance that goes on from here; the checkpoint stays
	Drop() error
	Bytes() int64 // about how much memory it holds
}

// memoryComparer is a Frozen that may know whether the instance's memory has the content that it
// had at the checkpoint before, or from which it went on.
type memoryComparer interface {
	Unchanged() (unchanged, known bool)
}

// Boot makes an instance that is not switched on yet.
type Boot func() (Freezable, error)

// Limits of an Executor.
type Limits struct {
	Checkpoints int   // at most so many; 0: none at all
	Bytes       int64 // that they hold together; 0: no bound
	// Room, when not nil, is told what checkpoints hold, and asked for Bytes, each time.
	Room func(held int64) int64
	// Pages takes pages of checkpoints for which memory has no room; nil: these are dropped.
	Pages Pages
	// Every is how many inputs apart checkpoints are on a path that is gone for the
	// first time; 0: the more, the less often the search comes back (spacing). A
	// state that is come back to always gets one of its own: who needs a second new
	// transition of it often needs a third.
	Every int
	// Audit is the share of new transitions, from 0 to 1, that are executed a
	// second time, by another instance, and compared. The choice depends on the
	// transition alone.
	Audit float64
	// Now reads a clock, for the counters' times; nil: they stay 0.
	Now func() time.Duration
}

// Counts of an Executor.
type Counts struct {
	Remembered int `json:"remembered"` // looked up
	// not looked up, but another worker waited for the same already
	Shared   int `json:"shared"`
	Lent     int `json:"lent"`     // not looked up, but the same as on another disk (share.go)
	Foreseen int `json:"foreseen"` // told of by another one that was executed (ariadne.Output)
	Executed int `json:"executed"` // made by a living node, for the first time
	Replayed int `json:"replayed"` // executed again only to reach a local state
	Boots    int `json:"boots"`
	Thaws    int `json:"thaws"`
	InPlace  int `json:"in_place"` // of Thaws, those of an instance that has kept its processes
	Freezes  int `json:"freezes"`
	// of Freezes, those whose memory was compared with the one before
	Compared   int `json:"compared"`
	Unchanged  int `json:"unchanged"` // of Compared, those that have the same
	Adopted    int `json:"adopted"`   // checkpoints made of another executor's (exchange.go)
	Unadopted  int `json:"unadopted"` // those of others that were of no use
	Unfrozen   int `json:"unfrozen"`  // states that could not be frozen
	Lost       int `json:"lost"`      // instances that could not go on from their states
	Evictions  int `json:"evictions"`
	Moved      int `json:"moved"`      // checkpoints of which a part was moved out of memory
	Mismatches int `json:"mismatches"` // executions that did not do what another one did
	Audited    int `json:"audited"`
	// Incomparable are the audits of which nothing can be said: a thread was preempted
	// in the step or on the way to it, so another execution may do something else.
	Incomparable int `json:"incomparable"`
	Unreplayable int `json:"unreplayable"` // of Executed, those in which a thread was preempted

	// Real time in living nodes; Replaying is that of steps that only lead to a local
	// state, Ending that of giving up instances and checkpoints.
	Stepping  time.Duration `json:"stepping_ns"`
	Replaying time.Duration `json:"replaying_ns"`
	Freezing  time.Duration `json:"freezing_ns"`
	Thawing   time.Duration `json:"thawing_ns"`
	Booting   time.Duration `json:"booting_ns"`
	Ending    time.Duration `json:"ending_ns"`
	// Of new transitions, how long each thaw, step and freeze took.
	Thaw, Step, Freeze Times `json:"-"`
	// Size is about how much memory each checkpoint held when it was made, and Kept how many were
	// kept at once at most, by all executors together.
	Size Sizes `json:"-"`
	Kept int   `json:"kept"`
}

// Add adds up the counts of several executors.
func (c *Counts) Add(d Counts) {
	c.Remembered += d.Remembered
	c.Shared += d.Shared
	c.Lent += d.Lent
	c.Foreseen += d.Foreseen
	c.Executed += d.Executed
	c.Replayed += d.Replayed
	c.Boots += d.Boots
	c.Thaws += d.Thaws
	c.InPlace += d.InPlace
	c.Freezes += d.Freezes
	c.Compared += d.Compared
	c.Unchanged += d.Unchanged
	c.Adopted += d.Adopted
	c.Unadopted += d.Unadopted
	c.Unfrozen += d.Unfrozen
	c.Lost += d.Lost
	c.Evictions += d.Evictions
	c.Moved += d.Moved
	c.Mismatches += d.Mismatches
	c.Audited += d.Audited
	c.Incomparable += d.Incomparable
	c.Unreplayable += d.Unreplayable
	c.Stepping += d.Stepping
	c.Replaying += d.Replaying
	c.Freezing += d.Freezing
	c.Thawing += d.Thawing
	c.Booting += d.Booting
	c.Ending += d.Ending
	c.Thaw.add(&d.Thaw)
	c.Step.add(&d.Step)
	c.Freeze.add(&d.Freeze)
	c.Size.add(&d.Size)
	c.Kept += d.Kept
}

// Executor makes transitions: it looks them up, and executes what is missing.
// Instances and checkpoints are its own, and belong to its thread. A Pool has several.
type Executor struct {
	memo   *Memo
	boot   []Boot // by node
	limits Limits
	live   []living
	kept   *checkpoints
	counts Counts
	// returns is the share of the last transitions that began in a state from which
	// the node's instance had gone elsewhere.
	returns float64
	// exchange has the checkpoints of other executors; nil: there are none. refused are the names
	// of states of which these are of no use.
	exchange *exchange
	refused  map[ariadne.Digest]bool
	// told are outputs that were foreseen, of transitions that are audited.
	told map[asked]*ariadne.Output
	// OnMismatch, when not nil, is told the mismatches of audits and replays; the
	// executor then goes on with the first execution. When it is nil they are errors.
	OnMismatch func(*Mismatch)
}

// living is a node's instance, and the state in which it stands.
type living struct {
	instance Freezable // or nil
	at       ariadne.Digest
	way      ariadne.Digest // how it has come there (Reached)
	from     *Local         // where it was thawed or booted
	// astray: a step on the way there was marked as one that may go differently, and
	// did. So may all that come after it.
	astray bool
}

// NewExecutor returns an executor whose instances come from boot, by node. Close
// must follow.
func NewExecutor(m *Memo, boot []Boot, l Limits) *Executor {
	if l.Now == nil {
		l.Now = func() time.Duration { return 0 }
	}
	x := &Executor{memo: m, boot: boot, limits: l, live: make([]living, len(boot)),
		kept: &checkpoints{count: l.Checkpoints, bytes: l.Bytes, room: l.Room, pages: l.Pages,
			at: map[ariadne.Digest]*checkpoint{}}}
	x.kept.forgotten = func(l *Local) {
		if x.exchange != nil {
			x.exchange.withdraw(l.Name, x)
		}
	}
	return x
}

// Counts tells what was done so far.
func (x *Executor) Counts() Counts {
	c := x.counts
	c.Evictions, c.Moved = x.kept.evictions, x.kept.moves
	return c
}

// Transition looks up what an input does in a local state, or executes it.
func (x *Executor) Transition(l *Local, in world.Input) (*Transition, error) {
	t, err := x.memo.Lookup(l, in)
	if err != nil {
		return nil, err
	}
	if t != nil {
		x.counts.Remembered++
		return t, nil
	}
	return x.execute(l, in)
}

// Known reports whether it is remembered what an input does in a local state.
func (x *Executor) Known(l *Local, in world.Input) (bool, error) {
	t, err := x.memo.Lookup(l, in)
	return t != nil, err
}

// execute executes a transition. Each time that an instance is lost there is a checkpoint
// less that could lead to it; one that was just booted is alone, and is not lost.
func (x *Executor) execute(l *Local, in world.Input) (t *Transition, err error) {
	shared, err := x.findShared(l, in)
	if err != nil {
		return nil, err
	}
	if shared != nil && !x.audits(l, in) {
		x.counts.Lent++
		return x.memo.enterShared(l, shared)
	}
	for {
		if t, err = x.try(l, in); !errors.Is(err, ariadne.ErrLost) {
			break
		}
		if err := x.giveUp(l.Node); err != nil {
			return nil, err
		}
	}
	if err == nil && shared != nil && !t.Output.Unreplayable &&
		(t.Output.Digest != shared.Output.Digest || !slices.Equal(t.Output.Looks, shared.Output.Looks)) {
		return t, x.mismatch(&Mismatch{State: l, Input: in, First: shared.Output, Second: t.Output})
	}
	return t, err
}

// giveUp gives up the node's instance, which was lost, and the checkpoint that it came from.
func (x *Executor) giveUp(id ariadne.NodeID) error {
	from := x.live[id].from
	return errors.Join(x.abandon(id), x.lose(from))
}

// lose gives up the checkpoint of a state from which an instance was lost.
func (x *Executor) lose(from *Local) error {
	x.counts.Lost++
	if c := x.kept.at[from.Name]; c != nil && c.adopted {
		x.refuse(from) // or it would be adopted again
	}
	return x.kept.lose(from)
}

func (x *Executor) try(l *Local, in world.Input) (*Transition, error) {
	again, cut, err := x.reach(l)
	if err != nil {
		return nil, err
	}
	if cut != "" {
		return x.memo.transition(l, in,
			ariadne.Output{Left: ariadne.Left{Clock: max(l.Clock, in.At), Deadline: ariadne.Never},
				Noted: ariadne.Noted{Cut: cut, Unreplayable: true}})
	}
	if again {
		x.returns += (1 - x.returns) / returnsOver
	} else {
		x.returns -= x.returns / returnsOver
	}
	if every := x.spacing(); again || l.begins() || x.distance(l, every) >= every {
		if err := x.freeze(l); err != nil {
			return nil, err
		}
	}
	audited := x.audits(l, in)
	if audited {
		x.live[l.Node].instance.RecordCalls(true)
	}
	x.live[l.Node].instance.Ahead(!x.memo.off)
	out, took, err := x.step(l, in)
	if err != nil {
		return nil, err
	}
	x.live[l.Node].instance.Ahead(false)
	in = settled(in, &out)
	x.counts.Stepping += took
	x.counts.Step.enter(took)
	x.counts.Executed++
	if out.Unreplayable {
		x.counts.Unreplayable++
	}
	if audited {
		x.live[l.Node].instance.RecordCalls(false)
		if err := x.audit(l, in, &out); err != nil {
			return nil, err
		}
	}
	t, err := x.memo.Add(l, in, &out)
	if told := x.told[asked{l.Name, in.Key()}]; err == nil && told != nil && !out.Unreplayable &&
		told.Digest != out.Digest {
		err = x.mismatch(&Mismatch{State: l, Input: in, First: *told, Second: out})
	}
	var m *Mismatch
	if errors.As(err, &m) {
		x.abandon(l.Node) // it is where the other was not
		if err := x.explain(m); err != nil {
			return t, err
		}
		return t, x.mismatch(m)
	}
	if errors.Is(err, ErrElsewhere) {
		err = errors.Join(err, x.abandon(l.Node)) // no state is named by that
	}
	for i := 0; err == nil && i < len(out.Others); i++ {
		err = x.enterOthers(l, in, &out.Others[i])
	}
	if err == nil && (t.Output.Digest != out.Digest || out.Cut != "") {
		// likewise, and one of them may go differently; or it is in the midst of a step
		err = x.abandon(l.Node)
	}
	return t, err
}

// enterOthers enters the transitions of a step's other images, which the executed step has
// reported. A transition that is to be audited is executed, and compared with the report.
func (x *Executor) enterOthers(l *Local, in world.Input, out *ariadne.Output) error {
	in.VariedBy(out.Variation())
	if known, err := x.memo.Lookup(l, in); known != nil || err != nil {
		return err
	}
	if x.audits(l, in) {
		if x.told == nil {
			x.told = map[asked]*ariadne.Output{}
		}
		x.told[asked{l.Name, in.Key()}] = out
		return nil
	}
	x.counts.Foreseen++
	_, err := x.memo.Add(l, in, out)
	return err
}

// step gives an input to the node's instance, which is at l, and says how long it
// took.
func (x *Executor) step(l *Local, in world.Input) (out ariadne.Output, took time.Duration, err error) {
	v := &x.live[l.Node]
	began := x.limits.Now()
	out, err = x.apply(v.instance, in)
	took = x.limits.Now() - began
	if err != nil {
		return out, took, errors.Join(err, x.abandon(l.Node))
	}
	in = settled(in, &out)
	v.at = x.memo.system.NameReached(l.Node, l.Name, in, &out)
	v.way = wayOn(v.way, in, &out)
	out.Unreplayable = out.Unreplayable || v.astray
	return out, took, nil
}

// wayOn is the way to where a step leads from a way.
func wayOn(way ariadne.Digest, in world.Input, out *ariadne.Output) ariadne.Digest {
	return world.SucceedBy(way, in, out)
}

// settled is an input with what came of it where something was drawn.
func settled(in world.Input, out *ariadne.Output) world.Input {
	v, w := in.Varied.Variation(), out.Variation()
	if in.Varied.Draw() != nil && len(v) <= len(w) && w[:len(v)] == v {
		in.VariedBy(w)
	}
	return in
}

// apply gives an input to an instance. It notes facts about files before anything that rests on
// them.
func (x *Executor) apply(m Freezable, in world.Input) (ariadne.Output, error) {
	out, err := m.Apply(in.Input())
	if err == nil && len(out.Files) > 0 {
		err = x.memo.Depend(out.Files)
	}
	return out, err
}

// abandon gives up the node's instance.
func (x *Executor) abandon(id ariadne.NodeID) error {
	v := &x.live[id]
	if v.instance == nil {
		return nil
	}
	m := v.instance
	v.instance, v.astray = nil, false
	began := x.limits.Now()
	err := m.Close()
	x.counts.Ending += x.limits.Now() - began
	return err
}

// replaysApart is the least number of inputs between two checkpoints on the way of a replay.
const replaysApart = 4

// halves reports whether a checkpoint is to be made on the way of a replay of n inputs, when left
// are still to be replayed. Where one state had to be replayed, its neighbours will have to be; so
// checkpoints halve what is left.
func halves(n, left int) bool { return left >= replaysApart && left < n && left&(left-1) == 0 }

// reach brings the node's instance to l: it is there or on the way, or it is thawed
// from the nearest kept ancestor, or booted, and given the inputs in between. again:
// it had gone elsewhere. cut: one of them took too long this time, and it is not there.
func (x *Executor) reach(l *Local) (again bool, cut string, err error) {
	from, there := x.nearest(l)
	again = !there
	if tried, err := x.adopt(l, from); err != nil {
		return again, "", err
	} else if tried { // there may be one more, and the instance may have gone elsewhere for it
		from, there = x.nearest(l)
	}
	if !there {
		if from, err = x.restoreNearest(l); err != nil {
			return true, "", err
		}
	}
	way := between(from, l)
	for i, s := range way {
		if halves(len(way), len(way)-i) {
			if err := x.freeze(s.Parent); err != nil {
				return again, "", err
			}
		}
		out, took, err := x.step(s.Parent, s.Input)
		if err != nil {
			return again, "", err
		}
		x.counts.Replaying += took
		x.counts.Replayed++
		switch {
		case out.Digest == s.StepDigest:
			continue
		case out.Cut != "":
			return again, out.Cut, x.abandon(l.Node)
		case out.Unreplayable || s.Unreplayable:
			x.live[l.Node].astray = true
			continue
		default:
			return again, "", x.replayDiffers(s, out)
		}
	}
	return again, "", nil
}

// replayDiffers reports that a replay did not do what the first execution did. The state
// is not reached, so there is no going on.
func (x *Executor) replayDiffers(s *Local, out ariadne.Output) error {
	first := ariadne.Output{Digest: s.StepDigest}
	if t, err := x.memo.Lookup(s.Parent, s.Input); err == nil && t != nil {
		first = t.Output
	}
	m := &Mismatch{State: s.Parent, Input: s.Input, First: first, Second: out}
	err := errors.Join(x.abandon(s.Node), x.explain(m))
	x.counts.Mismatches++
	if x.OnMismatch != nil {
		x.OnMismatch(m)
	}
	return errors.Join(m, err)
}

// nearest is the last state on the way to l where there is a checkpoint or the
// node's instance; there when it is the instance. Without any it is the root.
func (x *Executor) nearest(l *Local) (at *Local, there bool) {
	for {
		if x.stands(l) {
			return l, true
		}
		if l.Parent == nil || x.kept.at[l.Name] != nil {
			return l, false
		}
		l = l.Parent
	}
}

// between are the states after from up to l, which it leads to.
func between(from, l *Local) []*Local {
	path := make([]*Local, l.Depth-from.Depth)
	for i := len(path) - 1; i >= 0; i-- {
		path[i] = l
		l = l.Parent
	}
	return path
}

// restoreNearest brings the node's instance to the nearest kept ancestor of l: the one that lives,
// else another one. Without any ancestor it is booted.
func (x *Executor) restoreNearest(l *Local) (*Local, error) {
	a, c := x.kept.nearest(l)
	live := &x.live[l.Node]
	began := x.limits.Now()
	if r, ok := live.instance.(Restorable); ok && c != nil && r.CanRestore(c.frozen) {
		if err := x.kept.use(c); err != nil {
			return nil, err
		}
		inPlace, err := r.Restore(c.frozen)
		if err != nil {
			return nil, errors.Join(err, x.abandon(l.Node))
		}
		*live = living{instance: live.instance, at: a.Name, way: c.way, from: a}
		x.countThaw(began, inPlace)
		return a, nil
	}
	if err := x.abandon(l.Node); err != nil {
		return nil, err
	}
	m, err := x.newInstance(a, c)
	if err == nil {
		*live = living{instance: m, at: a.Name, from: a}
		if c != nil {
			live.way = c.way
		}
	}
	return a, err
}

// newInstance makes another instance at a local state, from its checkpoint; nil: it is booted
// there.
func (x *Executor) newInstance(a *Local, c *checkpoint) (Freezable, error) {
	began := x.limits.Now()
	if c == nil {
		m, err := x.boot[a.Node]()
		x.counts.Boots++
		x.counts.Booting += x.limits.Now() - began
		return m, err
	}
	if err := x.kept.use(c); err != nil {
		return nil, err
	}
	m, err := c.frozen.Thaw()
	x.countThaw(began, false)
	return m, err
}

func (x *Executor) countThaw(began time.Duration, inPlace bool) {
	took := x.limits.Now() - began
	x.counts.Thaws++
	if inPlace {
		x.counts.InPlace++
	}
	x.counts.Thawing += took
	x.counts.Thaw.enter(took)
}

// stands reports whether the node's instance is at l.
func (x *Executor) stands(l *Local) bool {
	v := &x.live[l.Node]
	return v.instance != nil && v.at == l.Name
}

const (
	returnsOver = 64 // transitions
	maxSpacing  = 64
)

// spacing is how many inputs apart checkpoints are on a new path. With checkpoints k
// apart each input costs a k-th of a freeze, and each return (k-1)/2 replays. A freeze
// takes about as long as a replay, so with r returns for each input the sum is least
// at the square root of 2/r.
func (x *Executor) spacing() int {
	if x.limits.Every > 0 {
		return x.limits.Every
	}
	return max(1, int(math.Round(math.Sqrt(2/max(x.returns, 2.0/(maxSpacing*maxSpacing))))))
}

// begins reports whether the node was switched on last. To load programs takes as long as hundreds
// of other steps, and each path that begins anew comes back here.
func (l *Local) begins() bool { return l.Parent != nil && l.Input.Kind == ariadne.Start }

// distance is the number of inputs from the nearest checkpoint to l, or most.
func (x *Executor) distance(l *Local, most int) int {
	n := 0
	for a := l; a != nil && n < most && x.kept.at[a.Name] == nil; a = a.Parent {
		n++
	}
	return n
}

// freeze keeps a checkpoint of l, where the node's instance stands.
func (x *Executor) freeze(l *Local) error {
	if x.limits.Checkpoints == 0 || l.Parent == nil || x.live[l.Node].astray {
		return nil // a node that is not switched on is as quickly booted
	}
	if x.kept.at[l.Name] != nil {
		return nil
	}
	began := x.limits.Now()
	f, err := x.live[l.Node].instance.Freeze()
	took := x.limits.Now() - began
	x.counts.Freezing += took
	if errors.Is(err, ariadne.ErrNotFreezable) {
		x.counts.Unfrozen++
		return nil
	}
	if err != nil {
		return err
	}
	x.counts.Freezes++
	x.compare(l, f)
	x.counts.Freeze.enter(took)
	x.counts.Size.enter(f.Bytes())
	began = x.limits.Now()
	c, err := x.kept.keep(l, f, x.live[l.Node].way, false)
	x.counts.Ending += x.limits.Now() - began
	x.offer(c)
	x.counts.Kept = max(x.counts.Kept, len(x.kept.at))
	return err
}

// compare counts whether the memory of a new checkpoint of l is that of the one before. A segment
// without data is left out: the kernel alone takes it.
func (x *Executor) compare(l *Local, f Frozen) {
	m, ok := f.(memoryComparer)
	if p := l.Input.Packet; !ok || p != nil && len(p.Data) == 0 {
		return
	}
	if unchanged, known := m.Unchanged(); known {
		x.counts.Compared++
		if unchanged {
			x.counts.Unchanged++
		}
	}
}

// Close ends all instances and drops all checkpoints.
func (x *Executor) Close() error {
	var errs []error
	for i := range x.live {
		if err := x.abandon(ariadne.NodeID(i)); err != nil {
			errs = append(errs, fmt.Errorf("node %d: %w", i, err))
		}
	}
	return errors.Join(append(errs, x.kept.drop())...)
}
