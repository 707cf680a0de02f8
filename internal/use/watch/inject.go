package watch

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/native/probe"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// injection are the faults of an agent. Kills are what a spec calls crashes: which nodes, for how
// long, and after which line. A budget of the spec is for one execution. A watch may go on for
// days, so there it is how many faults of a kind last at one time, unless it is asked for so many
// in all.
type injection struct {
	faults
	limits  [faultKinds]limit
	crashes [][]ariadne.NodeID // that may go down at one blow
	// groups and links are what may be separated, also in one direction if oneWay.
	groups, links []spec.Sides
	oneWay        bool

	down   [][]*launch // of each kill that lasts
	parted []*parting
	strike *strike // that waits, or nil
}

// limit is how often faults of a kind happen, and how.
type limit struct {
	most    int             // at one time; 0: any number
	all     int             // in the whole watch; 0: any number
	lengths []time.Duration // or ariadne.Ever; nil: at random
	// after is what a line is like that comes before, of the node afterOf, unless it is NoNode;
	// nil: there need not be one.
	after   *regexp.Regexp
	afterOf ariadne.NodeID
	heard   bool // there was such a line
	count   int  // how many have happened
}

// parting is a cut that lasts.
type parting struct {
	ways  []native.Way
	joins ariadne.Time
	of    *launch
	ends  string // what the end is called
}

// kindOf is what a spec calls a kind of fault.
func kindOf(kind faultKind) ariadne.ActionKind {
	return [faultKinds]ariadne.ActionKind{killing: world.Crash, cutting: world.Cut}[kind]
}

// newInjection is what a spec says of faults. inAll: its budgets are for the whole watch. A kind
// without a budget hits all servers.
func newInjection(s *spec.Spec, inAll bool) (i injection) {
	crash, network := &s.Outages[ariadne.Crashed], networkOf(s)
	i.groups, i.links = s.SidesOf(network)
	i.oneWay = network.OneWay
	if s.Faults[world.Crash] > 0 {
		i.crashes = s.DownTogether(ariadne.Crashed)
	} else {
		for _, id := range s.Servers(nil) {
			i.crashes = append(i.crashes, []ariadne.NodeID{id})
		}
	}
	lengths := [faultKinds][]time.Duration{killing: crash.For, cutting: network.For}
	for kind := range i.limits {
		l, k := &i.limits[kind], kindOf(faultKind(kind))
		if l.afterOf = ariadne.NoNode; s.Faults[k] == 0 {
			continue
		}
		l.most, l.lengths, l.after = int(s.Faults[k]), lengths[kind], s.After[k]
		if inAll {
			l.all = l.most
		}
		if of, ok := s.AfterOf[k]; ok {
			l.afterOf = of
		}
	}
	return i
}

// networkOf is which part of the network is cut. Without a budget of the spec that is each server
// alone and each pair of them, also in one direction.
func networkOf(s *spec.Spec) *spec.Network {
	if s.Faults[world.Cut] > 0 {
		return s.NetworkOf(world.Cut)
	}
	n := &spec.Network{OneWay: true, Clients: true}
	servers := s.Servers(nil)
	for i, id := range servers {
		n.Groups = append(n.Groups, []ariadne.NodeID{id})
		for _, other := range servers[i+1:] {
			n.Links = append(n.Links, []ariadne.NodeID{id, other})
		}
	}
	return n
}

// CanCut reports whether some cut parts nodes that are started in networks of their own.
func CanCut(s *spec.Spec) bool {
	i := newInjection(s, false)
	own := func(id ariadne.NodeID) bool { return !s.Watch.Native[id].Found }
	return slices.ContainsFunc(slices.Concat(i.groups, i.links), func(x spec.Sides) bool {
		return slices.ContainsFunc(x.From, own) && slices.ContainsFunc(x.To, own)
	})
}

// faultNotes says what of the faults of a spec a watch does otherwise, or not at all.
func faultNotes(s *spec.Spec, o *Options) (notes []string) {
	var left []string
	for _, k := range world.Kinds() {
		if s.Faults[k] > 0 && !(k == world.Crash && o.Kill > 0 || k == world.Cut && o.Cut > 0) {
			left = append(left, world.KindOf(k).Name)
		}
	}
	if left != nil {
		notes = append(notes, fmt.Sprintf("faults that are not injected: %s: a watch injects crash only with --kill, and cut only with --cut", strings.Join(left, ", ")))
	}
	for kind, every := range [faultKinds]time.Duration{killing: o.Kill, cutting: o.Cut} {
		if name := world.KindOf(kindOf(faultKind(kind))).Name; every > 0 && s.Faults != (world.Faults{}) &&
			s.Faults[kindOf(faultKind(kind))] == 0 {
			notes = append(notes, fmt.Sprintf("faults has no %s: --%s hits any server, at any time, as often as it says", name, faultNames[kind]))
		}
	}
	if o.Kill > 0 && s.Faults[world.Crash] > 0 && s.Outages[ariadne.Crashed].Between {
		notes = append(notes, "faults: crash: between has no meaning in a watch: --kill kills at any time")
	}
	return notes
}

// notes says which faults did not happen, because a line never came, and which budgets of the spec
// were exceeded.
func (i *injection) notes(violated bool) (notes []string) {
	for kind := range i.limits {
		l := &i.limits[kind]
		name := world.KindOf(kindOf(faultKind(kind))).Name
		if l.after != nil && !l.heard && i.asks(faultKind(kind)) {
			notes = append(notes,
				fmt.Sprintf("faults: %s: after: no line matches %q: there was no %s", name, l.after, faultNames[kind]))
		}
		if violated && l.most > 0 && l.count > l.most {
			notes = append(notes, fmt.Sprintf("%d %ss have happened, and faults allows %d in one execution (%s): --budget ends them after so many", l.count, faultNames[kind], l.most, name))
		}
	}
	return notes
}

// asks reports whether there are to be faults of a kind.
func (i *injection) asks(kind faultKind) bool {
	return i.random != nil && (kind == killing && i.kills > 0 || kind == cutting && i.kills < 1)
}

// allows reports whether there may be one more fault, when some last.
func (l *limit) allows(last int) bool {
	return (l.most == 0 || last < l.most) && (l.all == 0 || l.count < l.all)
}

// length draws for how long a fault lasts.
func (f *faults) length(l *limit) time.Duration {
	if l.lengths != nil {
		return l.lengths[f.random.IntN(len(l.lengths))]
	}
	return f.between(shortestFault, longestFault).Round(time.Millisecond)
}

// until is when a fault ends that begins now.
func until(now ariadne.Time, length time.Duration) ariadne.Time {
	if length == ariadne.Ever {
		return ariadne.Never
	}
	return now.Add(length)
}

// hear tells faults that wait for a line that a node has written one.
func (i *injection) hear(n *watched, line string) {
	for kind := range i.limits {
		l := &i.limits[kind]
		if l.after == nil || n.heard[kind] || l.afterOf != ariadne.NoNode && l.afterOf != n.def.ID ||
			!l.after.MatchString(line) {
			continue
		}
		l.heard, n.heard[kind] = true, true
	}
}

// hasHeard reports whether the line has come that must come before a fault hits a node.
func (i *injection) hasHeard(n *watched, kind faultKind) bool {
	l := &i.limits[kind]
	return l.after == nil || n.heard[kind] || l.afterOf != ariadne.NoNode && l.heard
}

// shows tells the faults that a node has shown something.
func (a *Agent) shows(n *watched, now ariadne.Time) { a.faults.shows(n, now) }

// runs reports whether a node runs that was started here.
func (r *launch) runs() bool { return r.node.process != nil && !r.waiting }

// launchOf is the life of a node's programs; nil: they are not started here.
func (a *Agent) launchOf(id ariadne.NodeID) *launch {
	i := slices.IndexFunc(a.running, func(r *launch) bool { return r.node.def.ID == id })
	if i < 0 {
		return nil
	}
	return a.running[i]
}

// tellFault tells what happens to a node.
func (a *Agent) tellFault(r *launch, kind faultKind, what string) {
	if a.onFault != nil {
		a.onFault(Change{At: a.now(), Node: r.node.def.Name, What: what, Kind: faultNames[kind]})
	}
}

// inject kills nodes or parts them, if the time for that has come. It connects nodes again that
// were parted for long enough.
func (a *Agent) inject() error {
	now := a.now()
	a.parted = slices.DeleteFunc(a.parted, func(p *parting) bool {
		if now < p.joins {
			return false
		}
		a.tellFault(p.of, cutting, p.ends)
		a.beside(func() error { return a.lab.Join(p.ways) }, nil)
		return true
	})
	a.down = slices.DeleteFunc(a.down, func(all []*launch) bool {
		return !slices.ContainsFunc(all, func(r *launch) bool { return r.killed })
	})
	if a.strike != nil {
		return a.endStrike(now)
	}
	if !a.due(now) {
		return nil
	}
	if a.kind == killing {
		return a.killSome(now)
	}
	defer a.done(now)
	if p, begins := a.choosePart(); p != nil {
		length := a.length(&a.limits[cutting])
		a.parted = append(a.parted, p)
		a.tellFault(p.of, cutting, begins+lasting(length))
		a.beside(func() error { return a.lab.Cut(p.ways) }, func() error {
			p.joins = until(a.now(), length)
			return nil
		})
	}
	return nil
}

// lasting says for how long something lasts.
func lasting(length time.Duration) string {
	if length == ariadne.Ever {
		return " for ever"
	}
	return fmt.Sprintf(" for %v", length)
}

// nextInjected is when inject has something to do.
func (i *injection) nextInjected() ariadne.Time {
	next := i.next
	if i.strike != nil {
		next = i.strike.until
	}
	for _, p := range i.parted {
		next = min(next, p.joins)
	}
	return next
}

// drawn draws one of some, if one can be had those at a node. ok: there is one.
func drawn[T any](f *faults, all []T, isAt func(T, *watched) bool) (one T, ok bool) {
	if f.at != nil {
		if there := slices.DeleteFunc(slices.Clone(all), func(x T) bool { return !isAt(x, f.at) }); len(there) > 0 {
			all = there
		}
	}
	if len(all) == 0 {
		return one, false
	}
	return all[f.random.IntN(len(all))], true
}

// killSome kills one node, or several at one blow.
func (a *Agent) killSome(now ariadne.Time) error {
	those := a.chooseKill()
	if len(those) == 1 && a.strikes && a.noStrikes == "" {
		return a.beginStrike(those[0], now)
	}
	defer a.done(now)
	return a.kill(those, "", now)
}

// kill kills nodes at one blow. where says at which moment, if that was chosen.
func (a *Agent) kill(those []*launch, where string, now ariadne.Time) error {
	if those == nil {
		return nil
	}
	length := a.length(&a.limits[killing])
	a.down = append(a.down, those)
	for _, r := range those {
		a.tellFault(r, killing, "is killed"+where+lasting(length))
		if err := r.kill(until(now, length)); err != nil {
			return fmt.Errorf("node %s: %w", r.node.def.Name, err)
		}
	}
	return nil
}

// strike is a kill that waits until the node is right behind a system call (probe.Kernel.Strike).
type strike struct {
	of     *launch
	places int          // for which it waits
	until  ariadne.Time // then it waits no longer
	// struck is the call, once the process is dead that has made it
	struck string
}

const (
	// strikeWithin is how long a strike waits.
	strikeWithin = 2 * time.Second
	// firstPlaces is for how many places of calls the first strike of a node waits at most, and
	// mostPlaces any strike.
	firstPlaces, mostPlaces = 8, 64
)

// beginStrike begins a strike. Nobody knows at which call a bug is, so the number of places that it
// waits for is drawn evenly over the orders of magnitude.
func (a *Agent) beginStrike(r *launch, now ariadne.Time) error {
	if r.places == 0 {
		r.places = firstPlaces
	}
	places := int(math.Pow(float64(r.places+1), a.random.Float64()))
	a.strike = &strike{of: r, places: places, until: now.Add(strikeWithin)}
	if err := a.kernel.Strike(int(r.node.def.ID), places); err != nil {
		return fmt.Errorf("node %s: %w", r.node.def.Name, err)
	}
	return nil
}

// hearStruck enters that a strike has killed a process.
func (a *Agent) hearStruck(s probe.Struck) {
	if a.strike != nil && int(a.strike.of.node.def.ID) == s.Node {
		a.strike.struck = s.Call
	}
}

// endStrike kills the whole node of a strike, once a process of it is dead, or it has waited long
// enough.
func (a *Agent) endStrike(now ariadne.Time) error {
	s := a.strike
	if s.struck == "" && now < s.until && s.of.runs() {
		return nil
	}
	a.strike = nil
	defer a.done(now)
	left, err := a.kernel.EndStrike()
	if err != nil {
		return err
	}
	// A node may be at more places, or is at no more in this time.
	switch seen := s.places - left; {
	case left > 0 && s.of.runs():
		s.of.places = max(seen, 1)
	case seen > s.of.places/2:
		s.of.places = min(2*s.of.places, mostPlaces)
	}
	switch {
	case s.struck != "":
		return a.kill([]*launch{s.of}, " behind a call of "+s.struck, now)
	case s.of.runs():
		return a.kill([]*launch{s.of}, "", now)
	}
	a.limits[killing].count-- // it has ended by itself
	return nil
}

// chooseKill chooses the nodes of a kill; nil: there are none.
func (a *Agent) chooseKill() []*launch {
	l := &a.limits[killing]
	if !l.allows(len(a.down)) {
		return nil
	}
	var all [][]*launch
	for _, group := range a.crashes {
		var those []*launch
		heard := false
		for _, id := range group {
			if r := a.launchOf(id); r != nil && r.runs() {
				those = append(those, r)
				heard = heard || a.hasHeard(r.node, killing)
			}
		}
		// A group without those that are down is one if two are left.
		if heard && len(those) >= min(len(group), 2) {
			all = append(all, those)
		}
	}
	those, ok := drawn(&a.faults, all, func(those []*launch, n *watched) bool {
		return slices.ContainsFunc(those, func(r *launch) bool { return r.node == n })
	})
	if ok {
		l.count++
	}
	return those
}

// choosePart chooses what is parted: some nodes from the others, or two from each other, perhaps in
// one direction. It says how that begins; nil: there is nothing.
func (a *Agent) choosePart() (p *parting, begins string) {
	l := &a.limits[cutting]
	if !l.allows(len(a.parted)) || l.after != nil && !l.heard {
		return nil, ""
	}
	var all [][]spec.Sides // of each form
	for _, form := range [][]spec.Sides{a.groups, a.links} {
		if those := slices.DeleteFunc(slices.Clone(form), func(x spec.Sides) bool {
			return !isHit(x, a.runsNow) || a.newWays(x, true) == nil
		}); len(those) > 0 {
			all = append(all, those)
		}
	}
	if all == nil {
		return nil, ""
	}
	x, _ := drawn(&a.faults, all[a.random.IntN(len(all))], func(x spec.Sides, n *watched) bool {
		return isHit(x, func(id ariadne.NodeID) bool { return id == n.def.ID })
	})
	named, oneWay := x, a.oneWay && a.random.IntN(2) == 0
	if oneWay && a.random.IntN(2) == 0 {
		x = spec.Sides{From: x.To, To: x.From}
	}
	p = &parting{ways: a.newWays(x, !oneWay), joins: ariadne.Never}
	if len(p.ways) == 0 {
		return nil, "" // in this direction they are parted already
	}
	for _, id := range named.From {
		if p.of = a.launchOf(id); p.of != nil {
			break
		}
	}
	l.count++
	begins, p.ends = a.wordsOf(named, oneWay, x.From[0] != named.From[0])
	return p, begins
}

// isHit reports whether some node is one of those that are parted from the others, or of a pair.
func isHit(x spec.Sides, node func(ariadne.NodeID) bool) bool {
	return slices.ContainsFunc(x.From, node) || len(x.To) == 1 && node(x.To[0])
}

// runsNow reports whether a node runs that was started here.
func (a *Agent) runsNow(id ariadne.NodeID) bool {
	r := a.launchOf(id)
	return r != nil && r.runs()
}

// newWays are the directions in which sides are parted. nil: they are parted in all of these
// already.
func (a *Agent) newWays(x spec.Sides, back bool) (ways []native.Way) {
	isNew := false
	add := func(from, to *launch) {
		if from == nil || to == nil || !from.node.hasNetwork() || !to.node.hasNetwork() {
			return
		}
		w := native.Way{From: from.node.number(), To: to.node.number()}
		ways = append(ways, w)
		isNew = isNew || !slices.ContainsFunc(a.parted,
			func(p *parting) bool { return slices.Contains(p.ways, w) })
	}
	for _, id := range x.From {
		for _, other := range x.To {
			from, to := a.launchOf(id), a.launchOf(other)
			if add(from, to); back {
				add(to, from)
			}
		}
	}
	if !isNew {
		return nil
	}
	return ways
}

// wordsOf says how a cut begins and how it ends, of the first node of a side: in one direction,
// from it or to it.
func (a *Agent) wordsOf(x spec.Sides, oneWay, back bool) (begins, ends string) {
	names := func(ids []ariadne.NodeID) string {
		var all []string
		for _, id := range ids {
			all = append(all, a.spec.Nodes[id].Name)
		}
		return strings.Join(all, ", ")
	}
	with, to := "", names(x.To)
	if len(x.From) > 1 {
		with = " with " + names(x.From[1:])
	}
	all := len(x.From)+len(x.To) == len(a.spec.Nodes)
	switch {
	case !oneWay && all:
		return "is cut off" + with, "is connected again" + with
	case !oneWay:
		return "is cut off from " + to + with, "is connected to " + to + " again" + with
	case all && !back:
		return "reaches no other node" + with, "reaches other nodes again" + with
	case all:
		return "is reached by no other node" + with, "is reached by other nodes again" + with
	case !back:
		return "does not reach " + to + with, "reaches " + to + " again" + with
	}
	return "is not reached by " + to + with, "is reached by " + to + " again" + with
}
