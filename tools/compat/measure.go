package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ariadne-mc/ariadne/tools/child"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

const resultFile = "result.json" // in the directory of a target and a user

// options are how targets are measured.
type options struct {
	ctx                 context.Context
	list, ariadne, work string
	runs, walks         int
	walkTime, check     time.Duration
	patience            time.Duration
	fetch               bool
	// users are those who run Ariadne, first the one who measures.
	users   []*user.User
	version string // of Ariadne
}

// result is what one target showed to one user.
type result struct {
	User    string
	Root    bool
	When    time.Time
	Ariadne string // version
	Version string // of the target
	Fetched bool
	Natural natural
	// Runs and replays whose steps were all equal to the first's, and the first
	// difference among them.
	Runs, EqualRuns       int
	RunDifference         string
	Replays, EqualReplays int
	ReplayDifference      string
	Walks                 walks
	Check                 check
	Refusals              []harness.Refusal
}

// natural is the natural schedule, once.
type natural struct {
	Ready       bool
	Status      int // exit status of ariadne run
	End         string
	Doubts      []string
	Steps       int
	Calls       int
	VirtualTime time.Duration
	RealTime    time.Duration
}

// walks are the executions of one check by random walks.
type walks struct {
	Wanted     int
	Status     int
	Executions int
	Steps      int
	RealTime   time.Duration
	Ends       map[string]int
	// Stopped says why there were fewer walks than wanted, or "".
	Stopped    string
	Violations []harness.Seen
	Doubts     []string
}

// check is a check by the default strategy.
type check struct {
	Wanted      time.Duration
	Outcome     string
	Executions  int
	Transitions int // made by living processes
	RealTime    time.Duration
	Stopped     string
	Violations  []harness.Seen
	Doubts      []string
}

// measure runs everything that the page says of a target, and keeps it. An error is
// one of the machine; what goes wrong with the target is in the results.
func (o *options) measure(t *target) ([]*result, error) {
	spec := filepath.Join(filepath.Dir(o.list), t.Spec)
	fetched := true
	if o.fetch {
		log := filepath.Join(o.dir(t), "fetch.log")
		if err := os.MkdirAll(o.dir(t), 0o755); err != nil {
			return nil, err
		}
		fetched = o.runFetch(filepath.Join(filepath.Dir(spec), "fetch"), log) == nil
	}
	var all []*result
	for _, u := range o.users {
		if t.Root != "" && u.Uid != "0" {
			continue
		}
		dir := filepath.Join(o.dir(t), u.Username)
		if err := own(dir, u); err != nil {
			return nil, err
		}
		r := &result{User: u.Username, Root: u.Uid == "0", When: time.Now(), Ariadne: o.version, Fetched: fetched}
		if fetched {
			r.Version = t.version()
			p := pass{o, u, dir, spec}
			if err := p.measure(t, r); err != nil {
				return nil, err
			}
		}
		if err := harness.Keep(filepath.Join(dir, resultFile), r); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// own makes an empty directory of the user's.
func own(dir string, u *user.User) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	uid, gid, err := ids(u)
	if err != nil {
		return err
	}
	return os.Chown(dir, int(uid), int(gid))
}

func ids(u *user.User) (uid, gid uint32, err error) {
	for _, id := range []struct {
		text string
		to   *uint32
	}{{u.Uid, &uid}, {u.Gid, &gid}} {
		n, err := strconv.ParseUint(id.text, 10, 32)
		if err != nil {
			return 0, 0, err
		}
		*id.to = uint32(n)
	}
	return uid, gid, nil
}

// pass is one target being measured by one user.
type pass struct {
	*options
	user *user.User
	dir  string // the user's
	spec string
}

func (o *pass) measure(t *target, r *result) error {
	first, err := o.command("run-1", o.work, "run", o.spec)
	if err != nil {
		return err
	}
	ready, err := first.Logged(t.ready)
	if err != nil {
		return err
	}
	r.Natural = natural{
		Ready: ready, Status: first.ExitStatus, End: first.End, Doubts: o.doubts(first),
		Steps: first.Steps, Calls: first.Calls, VirtualTime: time.Duration(first.VirtualTime), RealTime: first.RealTime,
	}
	r.Refusals = merge(nil, first.Refusals)
	if !r.Natural.Ready {
		return nil
	}
	if err := o.repeat(r, first); err != nil {
		return err
	}
	if err := o.replay(r); err != nil {
		return err
	}
	if err := o.walk(r); err != nil {
		return err
	}
	return o.explore(r)
}

// doubts are what keeps a command from being good: its own, and that it did not end by itself.
func (o *pass) doubts(r *harness.Run) []string {
	doubts := slices.Concat(r.Doubts, r.Bugs)
	if r.Interrupted {
		doubts = append(doubts, fmt.Sprintf("it was interrupted after %v", o.patience))
	}
	return doubts
}

// disturbed is command; every second time it has a busy neighbour and another working directory.
func (o *pass) disturbed(i int, out, verb, subject string) (*harness.Run, error) {
	if i%2 == 1 {
		return o.command(out, o.work, verb, subject)
	}
	defer busy()()
	return o.command(out, os.TempDir(), verb, subject)
}

// repeat runs the natural schedule again and compares.
func (o *pass) repeat(r *result, first *harness.Run) error {
	r.Runs, r.EqualRuns = 1, 1
	for i := 2; i <= o.runs; i++ {
		again, err := o.disturbed(i, "run-"+strconv.Itoa(i), "run", o.spec)
		if err != nil {
			return err
		}
		r.Runs++
		switch difference, err := compare(first, again); {
		case err != nil:
			return err
		case difference == "":
			r.EqualRuns++
			if err := os.RemoveAll(again.Out); err != nil {
				return err
			}
		case r.RunDifference == "":
			r.RunDifference = difference
		}
	}
	return nil
}

// replay takes one random walk and replays it; each replay verifies every step.
func (o *pass) replay(r *result) error {
	walk, err := o.command("walk", o.work, "check", o.spec, "--strategy", "random", "--first", "1", "--executions", "1",
		"--keep-going")
	if err != nil {
		return err
	}
	found, err := walk.Traces()
	if err != nil || len(found) == 0 {
		return errors.Join(err, fmt.Errorf("no trace below %s", walk.Out))
	}
	for i := 1; i <= o.runs; i++ {
		again, err := o.disturbed(i, "replay", "replay", found[0])
		if err != nil {
			return err
		}
		r.Replays++
		switch {
		case again.Mismatch == nil && len(again.Bugs) == 0 && !again.Interrupted:
			r.EqualReplays++
		case r.ReplayDifference == "" && again.Mismatch != nil:
			r.ReplayDifference = again.Mismatch.Message
		}
	}
	return nil
}

func (o *pass) walk(r *result) error {
	if o.walks == 0 {
		return nil
	}
	flags := []string{"--strategy", "random", "--first", "1", "--executions", strconv.Itoa(o.walks), "--keep-going"}
	if o.walkTime > 0 {
		flags = append(flags, "--time", o.walkTime.String())
	}
	c, err := o.command("walks", o.work, "check", o.spec, flags...)
	if err != nil {
		return err
	}
	r.Walks = walks{
		Wanted: o.walks, Status: c.ExitStatus, Executions: c.Executions, Steps: c.Steps, RealTime: c.RealTime,
		Ends: c.Ends, Violations: violations(c), Doubts: o.doubts(c),
	}
	if c.Executions < o.walks {
		r.Walks.Stopped = c.Stopped
	}
	r.Refusals = merge(r.Refusals, c.Refusals)
	return nil
}

// explore checks by the default strategy. It goes on after a violation, to see all.
func (o *pass) explore(r *result) error {
	if o.check == 0 {
		return nil
	}
	c, err := o.command("check", o.work, "check", o.spec, "--time", o.check.String(), "--keep-going")
	if err != nil {
		return err
	}
	r.Check = check{
		Wanted: o.check, Outcome: c.Outcome.String(), Executions: c.Executions, RealTime: c.RealTime,
		Stopped: c.Stopped, Violations: violations(c), Doubts: o.doubts(c),
	}
	if c.Coverage != nil {
		r.Check.Transitions = c.Coverage.Executed
	}
	r.Refusals = merge(r.Refusals, c.Refusals)
	if c.Outcome == harness.Nothing {
		return os.RemoveAll(c.Out) // with all that the nodes did, which is large
	}
	return nil
}

func violations(r *harness.Run) []harness.Seen {
	var all []harness.Seen
	for _, v := range r.Violations {
		all = append(all, harness.Found(v))
	}
	return all
}

// command runs ariadne in cwd, as the user, into a directory of the user's.
func (o *pass) command(out, cwd, verb, subject string, flags ...string) (*harness.Run, error) {
	a := harness.Ariadne{Binary: o.ariadne, Limit: o.patience, Dir: cwd}
	if o.user != o.users[0] {
		uid, gid, err := ids(o.user)
		if err != nil {
			return nil, err
		}
		a.User = &syscall.Credential{Uid: uid, Gid: gid}
		a.Env = append(os.Environ(), "HOME="+o.dir, "USER="+o.user.Username, "LOGNAME="+o.user.Username)
	}
	return a.Cold(o.ctx, filepath.Join(o.dir, out), verb, subject, flags...)
}

func (o *options) runFetch(script, log string) error {
	f, err := os.Create(log)
	if err != nil {
		return err
	}
	defer f.Close()
	cmd := child.Command(o.ctx, script)
	cmd.Stdout, cmd.Stderr = f, f
	return cmd.Run()
}

// compare says where the steps of two runs differ first, or "".
func compare(a, b *harness.Run) (string, error) {
	left, err := a.ReadSteps()
	if err != nil {
		return "", err
	}
	right, err := b.ReadSteps()
	if err != nil {
		return "", err
	}
	for i := range min(len(left), len(right)) {
		if l, r := show(&left[i]), show(&right[i]); l != r {
			return fmt.Sprintf("step %d: %s, then %s", left[i].Step, l, r), nil
		}
	}
	if len(left) != len(right) {
		return fmt.Sprintf("%d steps, then %d", len(left), len(right)), nil
	}
	return "", nil
}

func show(s *harness.Step) string {
	text := fmt.Sprintf("%s at %v with digest %s, %d calls", s.Action, time.Duration(s.At), s.Digest, s.Calls)
	if s.Unreplayable {
		text += ", preempted"
	}
	return text + s.Cut
}

// busy keeps a processor busy until its result is called.
func busy() (calm func()) {
	var stop atomic.Bool
	go func() {
		for !stop.Load() {
		}
	}()
	return func() { stop.Store(true) }
}

// merge adds more to all, summing the counts of the same of all nodes.
func merge(all, more []harness.Refusal) []harness.Refusal {
next:
	for _, m := range more {
		for i := range all {
			if all[i].Name == m.Name && all[i].Program == m.Program {
				all[i].Count += m.Count
				all[i].Harmless = all[i].Harmless && m.Harmless
				continue next
			}
		}
		all = append(all, m)
	}
	return all
}

func (o *options) dir(t *target) string {
	return filepath.Join(o.work, filepath.FromSlash(t.name()))
}

// kept returns what the target has shown last to each user, to root first.
func (o *options) kept(t *target) ([]*result, error) {
	files, err := filepath.Glob(filepath.Join(o.dir(t), "*", resultFile))
	if err != nil {
		return nil, err
	}
	var all []*result
	for _, f := range files {
		r, err := harness.Kept[result](f)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b *result) int {
		switch {
		case a.Root == b.Root:
			return 0
		case a.Root:
			return -1
		}
		return 1
	})
	return all, nil
}
