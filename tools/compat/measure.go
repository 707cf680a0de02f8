package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ariadne"
	"ariadne/internal/run"
	"ariadne/internal/trace"
)

const (
	traceFile  = "trace.txt"   // in a run directory
	resultFile = "result.json" // in the directory of a target and a user
)

// options are how targets are measured.
type options struct {
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
	Refusals              []ariadne.Refusal
}

// natural is the natural schedule, once.
type natural struct {
	Ready       bool
	Status      int // exit status of ariadne run
	End         string
	Doubts      []string
	Steps       int
	Calls       int
	VirtualTime ariadne.Time
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
	Violations []violation
	Doubts     []string
}

// check is a check by the default strategy.
type check struct {
	Wanted      time.Duration
	Outcome     run.Outcome
	Executions  int
	Transitions int // made by living processes
	RealTime    time.Duration
	Stopped     string
	Violations  []violation
	Doubts      []string
}

type violation struct {
	Kind, Node, Message, Suspect string
	Count                        int
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
		if err := r.save(filepath.Join(dir, resultFile)); err != nil {
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
	first := filepath.Join(o.dir, "run-1")
	report, status, err := o.command(first, o.work, "run", o.spec)
	if err != nil {
		return err
	}
	r.Natural = natural{
		Ready: logged(report, t), Status: status, End: report.End, Doubts: append(report.Doubts, report.Bugs...),
		Steps: report.Steps, Calls: report.Calls, VirtualTime: report.VirtualTime, RealTime: report.RealTime,
	}
	r.Refusals = refusals(report)
	if !r.Natural.Ready {
		return nil
	}
	if err := o.repeat(r, filepath.Join(first, traceFile)); err != nil {
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

// repeat runs the natural schedule again and compares. Every second run has a busy
// neighbour and another working directory.
func (o *pass) repeat(r *result, first string) error {
	r.Runs, r.EqualRuns = 1, 1
	for i := 2; i <= o.runs; i++ {
		out := filepath.Join(o.dir, "run-"+strconv.Itoa(i))
		cwd := o.work
		calm := func() {}
		if i%2 == 0 {
			cwd, calm = os.TempDir(), busy()
		}
		_, _, err := o.command(out, cwd, "run", o.spec)
		calm()
		if err != nil {
			return err
		}
		r.Runs++
		switch difference, err := compare(first, filepath.Join(out, traceFile)); {
		case err != nil:
			return err
		case difference == "":
			r.EqualRuns++
			if err := os.RemoveAll(out); err != nil {
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
	walk := filepath.Join(o.dir, "walk")
	if _, _, err := o.command(walk, o.work, "check", o.spec, "--strategy", "random", "--first", "1", "--executions", "1", "--keep-going"); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(walk, "*", traceFile))
	if err != nil || len(found) == 0 {
		return errors.Join(err, fmt.Errorf("no trace below %s", walk))
	}
	for i := 1; i <= o.runs; i++ {
		cwd := o.work
		calm := func() {}
		if i%2 == 0 {
			cwd, calm = os.TempDir(), busy()
		}
		report, _, err := o.command(filepath.Join(o.dir, "replay"), cwd, "replay", found[0])
		calm()
		if err != nil {
			return err
		}
		r.Replays++
		switch {
		case report.Mismatch == nil && len(report.Bugs) == 0:
			r.EqualReplays++
		case r.ReplayDifference == "" && report.Mismatch != nil:
			r.ReplayDifference = report.Mismatch.Message
		}
	}
	return nil
}

func (o *pass) walk(r *result) error {
	if o.walks == 0 {
		return nil
	}
	args := []string{o.spec, "--strategy", "random", "--first", "1", "--executions", strconv.Itoa(o.walks), "--keep-going"}
	if o.walkTime > 0 {
		args = append(args, "--time", o.walkTime.String())
	}
	report, status, err := o.command(filepath.Join(o.dir, "walks"), o.work, "check", args...)
	if err != nil {
		return err
	}
	r.Walks = walks{
		Wanted: o.walks, Status: status, Executions: report.Executions, Steps: report.Steps, RealTime: report.RealTime,
		Ends: report.Ends, Violations: violations(report), Doubts: append(report.Doubts, report.Bugs...),
	}
	if report.Executions < o.walks {
		r.Walks.Stopped = report.Stopped
	}
	r.Refusals = merge(r.Refusals, refusals(report))
	return nil
}

// explore checks by the default strategy. It goes on after a violation, to see all.
func (o *pass) explore(r *result) error {
	if o.check == 0 {
		return nil
	}
	out := filepath.Join(o.dir, "check")
	report, _, err := o.command(out, o.work, "check", o.spec, "--time", o.check.String(), "--keep-going")
	if err != nil {
		return err
	}
	r.Check = check{
		Wanted: o.check, Outcome: report.Outcome, Executions: report.Executions, RealTime: report.RealTime,
		Stopped: report.Stopped, Violations: violations(report), Doubts: append(report.Doubts, report.Bugs...),
	}
	if report.Coverage != nil {
		r.Check.Transitions = report.Coverage.Executed
	}
	r.Refusals = merge(r.Refusals, refusals(report))
	if report.Outcome == run.Nothing {
		return os.RemoveAll(out) // with all that the nodes did, which is large
	}
	return nil
}

func violations(report *run.Report) []violation {
	var all []violation
	for _, v := range report.Violations {
		all = append(all, violation{string(v.Kind), v.NodeName, v.Message, v.Suspect, v.Count})
	}
	return all
}

// command runs ariadne in cwd, as the user, and returns the report that it left in out.
func (o *pass) command(out, cwd, verb string, args ...string) (*run.Report, int, error) {
	if err := os.RemoveAll(out); err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.patience)
	defer cancel()
	args = append([]string{verb}, append(args, "--quiet", "--out", out)...)
	cmd := exec.CommandContext(ctx, o.ariadne, args...)
	cmd.Dir = cwd
	if o.user != o.users[0] {
		uid, gid, err := ids(o.user)
		if err != nil {
			return nil, 0, err
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
		cmd.Env = append(os.Environ(), "HOME="+o.dir, "USER="+o.user.Username, "LOGNAME="+o.user.Username)
	}
	// Interrupted, it ends with what it has found so far.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	said, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, 0, err
	}
	b, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err != nil {
		return nil, 0, fmt.Errorf("ariadne %v left no report: %s", args, said)
	}
	var report run.Report
	if err := json.Unmarshal(b, &report); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", filepath.Join(out, "report.json"), err)
	}
	return &report, cmd.ProcessState.ExitCode(), nil
}

func (o *options) runFetch(script, log string) error {
	f, err := os.Create(log)
	if err != nil {
		return err
	}
	defer f.Close()
	cmd := exec.Command(script)
	cmd.Stdout, cmd.Stderr = f, f
	return cmd.Run()
}

// compare says where two traces differ first, or "".
func compare(a, b string) (string, error) {
	left, err := run.LoadTrace(a)
	if err != nil {
		return "", err
	}
	right, err := run.LoadTrace(b)
	if err != nil {
		return "", err
	}
	for i := range min(len(left.Steps), len(right.Steps)) {
		if l, r := left.Steps[i], right.Steps[i]; l != r {
			return fmt.Sprintf("step %d: %s, then %s", l.Index, show(l), show(r)), nil
		}
	}
	if len(left.Steps) != len(right.Steps) {
		return fmt.Sprintf("%d steps, then %d", len(left.Steps), len(right.Steps)), nil
	}
	return "", nil
}

func show(s trace.Step) string {
	return fmt.Sprintf("%s at %s with digest %016x, %d calls", s.Action, s.At, s.Digest, s.Calls)
}

// busy keeps a processor busy until its result is called.
func busy() (calm func()) {
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	return func() { close(stop) }
}

// logged says whether a node has written the line that means ready.
func logged(report *run.Report, t *target) bool {
	for _, n := range report.Nodes {
		if b, err := os.ReadFile(n.Log); err == nil && t.ready.Match(b) {
			return true
		}
	}
	return false
}

// refusals returns those of all nodes, each once.
func refusals(report *run.Report) []ariadne.Refusal {
	var out []ariadne.Refusal
	for _, n := range report.Nodes {
		out = merge(out, n.Refusals)
	}
	return out
}

// merge adds more to all, summing the counts of the same.
func merge(all, more []ariadne.Refusal) []ariadne.Refusal {
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

// ask returns the version of the binary.
func (o *options) ask() (string, error) {
	said, err := exec.Command(o.ariadne, "version").Output()
	if err != nil {
		return "", fmt.Errorf("%s version: %w", o.ariadne, err)
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(string(said), "ariadne "), " go")
	return version, nil
}

func (o *options) dir(t *target) string {
	return filepath.Join(o.work, filepath.FromSlash(t.name()))
}

func (r *result) save(path string) error {
	b, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// kept returns what the target has shown last to each user, to root first.
func (o *options) kept(t *target) ([]*result, error) {
	files, err := filepath.Glob(filepath.Join(o.dir(t), "*", resultFile))
	if err != nil {
		return nil, err
	}
	var all []*result
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		r := new(result)
		if err := json.Unmarshal(b, r); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
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
