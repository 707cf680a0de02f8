//go:build linux

package node

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/filetree"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/dialog"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net"
	"github.com/ariadne-mc/ariadne/internal/machine/sandbox"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"

	"golang.org/x/sys/unix"
)

// A node that is down has no processes. Its files are as they were. When only its programs were
// killed (ariadne.Crashed), its kernel lives on, and answers what arrives. When the machine stopped
// (ariadne.Stopped, ariadne.PowerLost), a new kernel begins, and what was in memory is gone: the
// machine is its disk, and says so (Output.Content), so all ways that lead to the same disk lead to
// one state.

// fate is what takes a node down in a step, and what is left of it.
type fate struct {
	seen     sys.Sight             // what has happened
	stays    heard                 // in which it was looked for what stays
	since    lossPoint             // the last place at which power could go
	listened heard                 // that were compared with Faults.After
	outage   *ariadne.Outage       // what takes the node down in the midst of the step, or nil
	down     ariadne.Down          // what has taken it down
	back     ariadne.Time          // with down
	content  ariadne.Digest        // of what a stop has left
	looks    map[ariadne.Look]bool // at what Node.disk has; nil: that is not known
	lost     []string              // by a loss of power
	ways     []otherwise           // what it would have come to with other images
	drawn    bool                  // how the step is varied is drawn as it goes
	left     int                   // images of the disk that are no alternatives
}

// newFate is that of a step that begins with an input.
func (n *Node) newFate(in *ariadne.Input) fate {
	f := fate{drawn: in.Draw != nil, since: lossPoint{log: n.k.Files.Log}}
	if n.disk != nil {
		f.looks = map[ariadne.Look]bool{}
	}
	return f
}

// takeDownIfDue takes the node down, if something does so in the step.
func (n *Node) takeDownIfDue() {
	if n.step.outage != nil {
		n.takeDown(*n.step.outage)
	}
}

// reportFate has the output of a step that ends say what has taken the node down, and what that has
// left.
func (n *Node) reportFate(out *ariadne.Output) {
	f := &n.step.fate
	if out.Down, out.Back = f.down, f.back; f.down == ariadne.Up || f.down == ariadne.Paused {
		return
	}
	out.Ended = false // its commands are to be run again
	out.Content, out.Lost, out.LeftOut = f.content, f.lost, f.left
	if n.disk != nil && out.Content != (ariadne.Digest{}) {
		out.Disks = n.disk
	}
}

// goesDownBefore enters the call at whose entry th stands as a place of the step, if the node may
// go down there, and reports whether it does. It is one where something that others can see, or
// that stays, has happened since the last such place, or the beginning of the step. A pause may
// also be where nothing has happened yet but that the program has made up its mind; a step has one.
// So may its clock be set there, or the process be killed whose call it is.
func (n *Node) goesDownBefore(th *thread) bool {
	if th.k.Call.Passed || n.cfg.Faults.Within == nil && !n.cfg.Faults.Kill.May || n.step.down == ariadne.Paused {
		return false
	}
	if n.pausesAtRead(th) {
		return false
	}
	on, sight := sys.Visible(th.k)
	var alternatives []string
	if sight.Has(sys.SeenAfterCrash | sys.SeenWhenOff) {
		alternatives = n.outagesAt(on, sight)
	}
	if sight.Has(sys.SeenByProcesses) {
		alternatives = append(slices.Clip(alternatives), n.killing(th)...)
	}
	alternatives = n.possibleNow(alternatives)
	if sight.Has(sys.SeenWhenOff) {
		n.step.since = lossPoint{seen: true}
	}
	if len(alternatives) == 0 || dialog.Spared(n.k) {
		return false
	}
	taken := n.step.course.At(th.k.TID, callName(th.k.Call.NR)+"/before", on, alternatives)
	if taken == "" {
		return false
	}
	n.applyAlternative(taken)
	if n.step.outage != nil || th.k.Proc.Dead {
		return true
	}
	if n.k.HasReady() { // they have their turn when th has made its call
		th.used = max(th.used, slice)
	}
	return false
}

// placesAtReads is how many reads of the clock are places in a step, at most.
const placesAtReads = 16

// pausesAtRead enters a read of the clock at whose entry th stands as a place of the step, if the
// node may be paused there, and reports whether it is. The read, and all later ones, then see the
// time behind the pause.
func (n *Node) pausesAtRead(th *thread) bool {
	if !n.cfg.Faults.PausesAtReads || !sys.Of(th.k.Call.NR).ReadsClock || n.step.readPlaces == placesAtReads ||
		dialog.Spared(n.k) {
		return false
	}
	pauses := n.possibleNow(n.among(func(f ariadne.NodeFault) bool {
		return ariadne.OutageOf(f).Down == ariadne.Paused
	}))
	if len(pauses) == 0 {
		return false
	}
	n.step.readPlaces++
	taken := n.step.course.At(th.k.TID, "clock", "", pauses)
	if taken == "" {
		return false
	}
	n.applyAlternative(taken)
	if n.k.HasReady() {
		th.used = max(th.used, slice)
	}
	return true
}

// outagesAt are the faults of the whole node that may happen before a call, as alternatives: those
// for which it makes a difference what has happened in the step, and that the call comes next.
func (n *Node) outagesAt(on string, sight sys.Sight) []string {
	sys.EnterStores(n.k)
	n.hearStaying()
	before := n.step.seen
	if on == dialog.Path {
		before = sys.Seen
	} else {
		n.step.seen |= sight
	}
	if before == sys.Seen && sight == sys.Seen {
		return n.outages
	}
	stored := before == sys.NotSeen && n.stored()
	return n.among(func(f ariadne.NodeFault) bool {
		switch ariadne.OutageOf(f).Down {
		case ariadne.PowerLost:
			return sight.Has(sys.SeenWhenOff) && (before.Has(sys.SeenWhenOff) || stored)
		case ariadne.Stopped:
			return sight.Has(sys.SeenWhenOff) && before.Has(sys.SeenWhenOff)
		case ariadne.Crashed:
			return sight.Has(sys.SeenAfterCrash) && before.Has(sys.SeenAfterCrash)
		}
		return sight == sys.Seen
	})
}

// alternatives are faults as alternatives.
func alternatives(faults []ariadne.NodeFault) (all []string) {
	for _, f := range faults {
		all = append(all, ariadne.Alternative(f))
	}
	return all
}

// among are those of the faults that may hit the node within a step for which may says so, as
// alternatives.
func (n *Node) among(may func(f ariadne.NodeFault) bool) (alternatives []string) {
	for i, f := range n.cfg.Faults.Within {
		if may(f) {
			alternatives = append(alternatives, n.outages[i])
		}
	}
	return alternatives
}

// hearStaying looks at the lines that the node has written in the step since it was asked last.
// Effects that outlive its going down have happened.
func (n *Node) hearStaying() {
	s := &n.step
	told := s.stays.since(&n.k.Told)
	if stays := n.cfg.Stays; told.Recorded() > 0 && stays != nil && stays(told) {
		s.seen, s.since.seen = sys.Seen, true
	}
}

// applyAlternative has an alternative happen that is a fault.
func (n *Node) applyAlternative(alternative string) {
	f, err := ariadne.ParseNodeFault(alternative)
	must(err)
	n.applyFault(f)
}

// strikes are what the kinds of faults do to a node, each from the file of its kind.
var strikes = map[string]func(n *Node, f ariadne.NodeFault){}

// strikesBy enters what faults of a kind do to a node.
func strikesBy[F ariadne.NodeFault](kind string, strike func(n *Node, f F)) {
	strikes[kind] = func(n *Node, f ariadne.NodeFault) { strike(n, f.(F)) }
}

// applyFault has a fault happen to the node.
func (n *Node) applyFault(f ariadne.NodeFault) {
	strike := strikes[f.Kind()]
	if strike == nil {
		must(fmt.Errorf("nothing is known of faults of kind %s", f.Kind()))
	}
	strike(n, f)
}

func init() {
	strikesBy(ariadne.Paused.String(), (*Node).pause)
	for _, down := range []ariadne.Down{ariadne.Crashed, ariadne.Stopped, ariadne.PowerLost} {
		strikesBy(down.String(), func(n *Node, o ariadne.Outage) { n.step.outage = &o })
	}
}

// pause lets the time pass for which nothing of the node runs. Data that was sent before is under
// way, and all timers that were due meanwhile expire at once.
func (n *Node) pause(o ariadne.Outage) {
	net.Flush(n.k)
	n.step.down = o.Down
	n.step.back, n.k.Now = n.end(o.For)
	n.fireDue(n.k.Now)
}

// takeDown takes the node down.
func (n *Node) takeDown(o ariadne.Outage) {
	k := n.k
	if k.Files.Logs && o.Down == ariadne.PowerLost {
		sys.EnterStores(k)
	}
	if o.Down.Off() {
		net.Flush(k) // that is under way; its end nobody hears of
	}
	exits, ended, sent := k.Exits, k.CommandsEnded, k.Out
	if o.Down == ariadne.Crashed {
		n.keepSegments()
	}
	for _, pid := range k.PIDs() {
		p := k.Procs[pid]
		if p == nil || p.Dead || p == k.Init.Proc {
			continue
		}
		n.endProcess(p, 0, int(unix.SIGKILL), false)
	}
	k.Exits, k.CommandsEnded = exits, ended // of a fault nobody dies
	k.ForgetAgain()
	n.polled, n.quiet = polling{}, quiet{}
	n.step.down = o.Down
	n.step.back, _ = n.end(o.For)
	if o.Down.Off() {
		k.Out = sent
		n.powerOff(o)
	}
}

// powerOff leaves of the machine what is on its disks.
func (n *Node) powerOff(o ariadne.Outage) {
	old := n.k
	on := n.offUntil(o.For)
	n.closeCarried()
	n.k = newKernel(&n.cfg, old.Boots+1)
	k := n.k
	k.Files = old.Files
	k.Told, k.Exits, k.Refusals, k.Used, k.Asked = old.Told, old.Exits, old.Refusals, old.Used, old.Asked
	k.Out, k.RealBase, k.Drift, k.Said = old.Out, old.RealBase, old.Drift, old.Said
	// Nothing happens to it before it is switched on, or ever.
	k.Now = on
	// It has run for as long as it was down, at most. That does not depend on when within a second
	// it went down.
	k.MonoBase = -int64(k.Now) + int64(k.Rand.Uint64()%uint64(max(o.For, 0)+1))
	n.forgetShared()
	dialog.Keep(old, k)
	n.step.looks = nil
	if o.Down == ariadne.PowerLost {
		n.losePower()
	} else {
		n.settleDisk()
	}
}

// settleDisk leaves of the machine what is on its disks as they are now.
func (n *Node) settleDisk() {
	n.k.Files.Begin()
	n.keepDisk()
	n.step.content = n.content()
	n.disk = n.newDisk()
}

// keepDisk leaves of the node's files those on its machine's disks.
func (n *Node) keepDisk() {
	files := &n.k.Files
	base, _ := n.ownFiles()
	roots := map[uint64]bool{}
	for _, dir := range sys.Volatile {
		var st unix.Stat_t
		must(unix.Stat(path.Join(base, dir), &st))
		must(emptyDir(path.Join(base, dir)))
		roots[st.Ino] = true
		files.Dirty[inode.Key{Dev: st.Dev, Ino: st.Ino}] = true
		for _, made := range sandbox.Booted[dir] {
			name := path.Join(base, dir, made)
			must(os.Mkdir(name, 0o777))
			must(unix.Chmod(name, 0o1777))
			must(unix.Stat(name, &st))
			roots[st.Ino] = true
		}
	}
	for _, made := range n.cfg.Run {
		name := path.Join(base, "run", made)
		if err := os.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			must(err)
		}
		if os.Geteuid() == 0 {
			must(os.Lchown(name, n.cfg.User, n.cfg.Group))
		}
		var st unix.Stat_t
		must(unix.Stat(name, &st))
		roots[st.Ino] = true
	}
	maps.Copy(files.Dirty, files.Mapped)
	clear(files.Mapped)
	clear(files.Writable)
	n.closeHeld(nil)
	n.captureFiles()
	onDisk, sizes := map[inode.Key]bool{}, map[inode.Key]int64{}
	for _, f := range n.files.Files() {
		key := inode.Key{Dev: files.Private, Ino: f.Ino}
		onDisk[key], sizes[key] = !roots[f.Ino], f.Size
	}
	files.Restart(onDisk)
	files.Disk.Settle(func(key inode.Key) (int64, bool) { size, ok := sizes[key]; return size, ok })
}

// content is over all that is left of the node's machine: its files, as its programs will see them,
// and of the kernel that is to begin what differs from one to another, its clock aside.
func (n *Node) content() ariadne.Digest {
	k := n.k
	disk := n.files.Digest(func(b []byte, f filetree.File) []byte {
		key := inode.Key{Dev: k.Files.Private, Ino: f.Ino}
		uid, gid := sys.Owner(&k.Files, key, f.UID, f.GID)
		return k.Files.Append(fmt.Appendf(b, "%d %d ", uid, gid), key)
	})
	return n.rest(disk)
}

// emptyDir removes what is in a directory, which need not be there.
func emptyDir(dir string) error {
	list, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil
	}
	for _, e := range list {
		if err == nil {
			err = os.RemoveAll(path.Join(dir, e.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("empty %s: %w", dir, err)
	}
	return nil
}
