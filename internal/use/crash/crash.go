//go:build linux

// Package crash judges the files that a kill, a power loss or a failed call may leave of a
// program's work: it follows the log of the operations that the program made, forms the images of
// each point, puts each that is different into a directory of its own, and lets a checker look at
// it.
//
// It does not run the program (internal/use/run does, in a node), and does not decide what a power
// loss may take (internal/leaf/disk). The checker is no node's: it is run as it is, on this
// machine, so that thousands of images cost seconds.
//
// Invariants: a verdict is the checker's, on exactly these files; files that were judged
// are not judged again; the checker has accepted what the program left without a loss.
//
// Read next: crash.go, then column.go, checker.go and tree.go; calls.go.
package crash

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/system/checker"

	"golang.org/x/sys/unix"
)

// Options say what is to be judged, and how.
type Options struct {
	Dir string // what the node's home held before, or ""
	// the directory of which the home has links to files, and Links are their paths from there
	Beside string
	Links  []string
	Log    []*disk.Op
	// the checker's command line; it accepts by status 0. Without, there is advice
	Check []string
	// Signature is the command line of a command that prints the state of an image, or empty.
	// Images with equal ones get the same verdict.
	Signature []string
	// without a checker: the command line of who looks at the files, and prints what it finds; or
	// nothing
	Read    []string
	Models  []disk.Model // of a power loss, tried one after the other
	Images  int          // of one point, at most
	Seed    uint64
	Workers int
	Timeout time.Duration // of one check
	// Outside are files in the home, by their paths from there, that are not on the machine's disk.
	// They are as they were at the moment of the loss.
	Outside []string
	// Tell has checkers find in the file named by the variable ARIADNE_LOG what was done, and what
	// of it is lost: an operation in JSON on each line.
	Tell bool
	// Attempts, when not nil, are judged last: executions in which a call fails.
	Attempts *Attempts
	// Recovery, when not nil, is executed on images that the checker accepts, with another loss
	// during it. The checker recovers files by the same command before it looks at them.
	Recovery *Recoveries
	// Apart has the checker look at each image, also where it has looked at one that is the same
	// wherever it looks. Else Audit is the share of those at which it looks again all the same, to
	// see that it says the same.
	Apart bool
	Audit float64
	// start is the node's home from before, once it is loaded; or nil.
	start *tree
	// Temp is where images are put.
	Temp string
	// Keep is a directory for failing images, of each group the one that lacks least; or "".
	Keep string
	// Progress, when not nil, is told now and then, with a pause in between that is short unless
	// Pause is given. It must not keep what it is told.
	Progress func(*Result)
	Pause    time.Duration
	// Done, when not nil, is told each result as it comes.
	Done func(*Result)
}

// Kill is the name of what is no model: the programs are killed, the machine goes on, and nothing
// is lost of what they have done.
const Kill = "kill"

// Result is what came of losses by one model, or of kills.
type Result struct {
	// Answers are what the program was told other than the first answers, where it asked Ariadne to
	// choose.
	Answers string `json:"answers,omitempty"`
	// or Kill, or Calls: then operations are executions in which a call fails
	Model      string `json:"model"`
	Operations int    `json:"operations"`
	// operations after which all images were judged: all, unless it was interrupted
	Judged int `json:"judged"`
	Points int `json:"points"` // operations after which images were formed
	Images int `json:"images"` // formed
	// and judged: no two of them look the same to a program
	Distinct int `json:"distinct"`
	Checked  int `json:"checked"` // of them, not known from the results before
	// of those checked, the same as another one wherever the checker has looked there
	Merged  int `json:"merged,omitempty"`
	Audited int `json:"audited,omitempty"` // of these, looked at all the same
	// of those checked, the same as another one by their signature
	Equal int `json:"equal_signatures,omitempty"`
	// Unsigned is on how many of those checked the command of the signature failed. FirstUnsigned
	// is how it failed first.
	Unsigned      int    `json:"failed_signatures,omitempty"`
	FirstUnsigned string `json:"first_failed_signature,omitempty"`
	Passed        int    `json:"passed"`
	Failed        int    `json:"failed"`
	// the checker takes too long, or says different things
	Undecided int `json:"undecided,omitempty"`
	// of them, those of which it says different things
	Flaky int `json:"flaky,omitempty"`
	// of what failed by a power loss, what a kill leaves as well
	Killed int `json:"killed,omitempty"`
	// subsets of operations that the model allows and that were not looked at
	LeftOut float64 `json:"left_out"`
	AtLeast bool    `json:"at_least,omitempty"` // there are more
	// Far is how many images are advised to be looked at, which are not judged; Advice says why.
	Far    int      `json:"far,omitempty"`
	Advice []Advice `json:"advice,omitempty"`
	// Advised says that there was no checker, but advice.
	Advised bool `json:"advised,omitempty"`
	// Pointed says that images were formed where the program said "crash now", alone.
	Pointed bool `json:"pointed,omitempty"`
	// Failures are how the executions have ended; of Calls alone.
	Failures *Failures `json:"failures,omitempty"`
	// Recovered says that the images are of another loss, during the recovery from one. Then
	// operations are executions of the recovery.
	Recovered *Recovered `json:"recoveries,omitempty"`
	// Shrunk is how many images were checked besides to find out what is to blame, and Uncertain
	// for how many examples of Groups that was cut off: they may lack more than they need to.
	Shrunk    int `json:"shrunk,omitempty"`
	Uncertain int `json:"uncertain,omitempty"`
	// Groups are of the failing images that no kill leaves, or of those that kills leave.
	Groups []Group `json:"groups,omitempty"`
	// Shortest is that of their examples that lacks least.
	Shortest *Failure `json:"shortest,omitempty"`
	// Undecidable is the first image of those that are Undecided.
	Undecidable *Failure `json:"first_undecided,omitempty"`
	// Before says that the checker rejects the files as they were before the first operation.
	// Images equal to them are not counted as failing.
	Before bool `json:"fails_before,omitempty"`

	// Elsewhere says why the checker sees the images in another directory than the node had its
	// files in, or is empty. It is in the first result.
	Elsewhere string `json:"elsewhere,omitempty"`

	// Statuses says how often the checker ended how, of what failed.
	Statuses map[string]int `json:"statuses,omitempty"`

	RealTime time.Duration `json:"real_time_ns"`
	// Forming, Writing and Checking are how long it took to form images, and workers to write them,
	// each in the place of another one, and to check them.
	Forming  time.Duration `json:"forming_ns"`
	Writing  time.Duration `json:"writing_ns"`
	Checking time.Duration `json:"checking_ns"`

	began    time.Time
	failures []*Failure
	// images that fail, or are far, by the last operation's place in the log; not those of kills
	// again
	marks map[int]int
}

// verdict of a checker.
type verdict struct {
	passed         bool
	undecided      bool // it takes too long, or is flaky
	flaky          bool // another run of the checker says otherwise
	status, output string
	read           view // what the reader has found
}

// String is how it ended, and what it said last.
func (v *verdict) String() string {
	if said := tail(v.output); said != "" {
		return v.status + ": " + said
	}
	return v.status
}

// equals reports whether it is the same as another one.
func (v *verdict) equals(o *verdict) bool {
	return v.passed == o.passed && v.status == o.status && v.read[Output].distance(o.read[Output]) == 0
}

// sum is what an image is known by.
type sum [sha256.Size]byte

type judge struct {
	Options
	epochs   []disk.Epoch // behind each operation of the log
	pointed  bool         // images are wanted where the program says so, alone
	told     *oplog       // with Tell
	checkers chan *looker // those that are free
	start    *tree        // before the first operation
	verdicts map[sum]*verdict
	rejected bool // start is, by the checker
	// the files of start, which count as good as long as the program owes nothing
	accepted sum
	end      sum          // the files behind the last operation
	before   view         // the files of start, or what a reader finds there
	after    view         // likewise, behind the last operation
	killed   map[sum]bool // what kills leave
	// by operation: what a kill behind it leaves fails, as since this one; or nil
	stops   []*Failure
	formed  map[sum]bool    // what losses of power leave
	fails   map[string]bool // models by which something fails
	mu      sync.Mutex      // of the result at hand and of verdicts, while workers work
	shown   time.Time
	advisor *advisor // when there is no checker
	merged  *merged
	signed  map[sum]*verdict // by signatures, and by what the program had said
	// elsewhere says why checkers do not see images where the node has its files.
	elsewhere string
	survivors survivors // of the losses that were judged last
	// spare, when not nil, is how many checks may yet be made to find out what is to blame.
	spare *int
}

// Judge judges what kills leave, and then, model by model, what power losses leave. When ctx ends
// it returns what it has, and the error of ctx.
func Judge(ctx context.Context, o Options) (results []*Result, err error) {
	j := &judge{Options: o, verdicts: map[sum]*verdict{}, killed: map[sum]bool{}, stops: make([]*Failure, len(o.Log)),
		formed: map[sum]bool{}, fails: map[string]bool{}, epochs: epochsAfter(disk.Epoch{}, o.Log),
		pointed: pointed(o.Log), merged: &merged{}, signed: map[sum]*verdict{}}
	if j.Tell {
		j.told = newOplog(j.Log)
	}
	defer j.close()
	if err := j.begin(ctx); err != nil {
		return nil, err
	}
	j.shown = time.Now()
	columns := []func(context.Context) (*Result, error){func(ctx context.Context) (*Result, error) {
		return j.column(ctx, kills{j})
	}}
	recoveries := func(m *disk.Model) {
		if o.Recovery != nil {
			columns = append(columns, func(ctx context.Context) (*Result, error) { return j.recoveries(ctx, m) })
		}
	}
	recoveries(nil)
	for _, m := range o.Models {
		columns = append(columns, func(ctx context.Context) (*Result, error) {
			return j.column(ctx, newPowerLosses(j, m))
		})
		recoveries(&m)
	}
	if o.Attempts != nil {
		columns = append(columns, j.calls)
	}
	for _, column := range columns {
		r, err := column(ctx)
		if len(results) == 0 {
			r.Elsewhere = j.elsewhere
		}
		results = append(results, r)
		if e := j.keep(r); err == nil {
			err = e
		}
		if r.Recovered == nil {
			j.fails[r.Model] = r.Failed > 0
		}
		if o.Done != nil {
			o.Done(r)
		}
		if err != nil {
			return results, err
		}
	}
	return results, nil
}

// changedLinks are the linked files that the program changes.
func (j *judge) changedLinks() (names []string) {
	for _, name := range j.Links {
		at := filepath.Join(home, name)
		if slices.ContainsFunc(j.Log, func(op *disk.Op) bool { return op.Path == at || op.ToPath == at }) {
			names = append(names, name)
		}
	}
	return names
}

// link puts into the home, as if they had always been there, copies of those linked files that the
// program changes: it was given one when it did.
func (j *judge) link() error {
	for _, name := range j.changedLinks() {
		at := filepath.Join(home, name)
		if j.start.find(at) != nil {
			continue
		}
		from, err := load(filepath.Join(j.Beside, name))
		if err != nil {
			return err
		}
		e := j.start.edit()
		e.link(e.within(at), filepath.Base(at), e.add(*from.find(home)))
		e.apply()
	}
	return nil
}

// Load reads what the node's home held before, unless it has been read. To judge several logs, call
// it before the first: results may be kept in that directory.
func (o *Options) Load() (err error) {
	if o.start == nil {
		o.start, err = load(o.Dir)
	}
	return err
}

// begin sees to it that the checker accepts what the program left, and finds out what it says of
// the files from before.
func (j *judge) begin(ctx context.Context) (err error) {
	if err := j.Load(); err != nil {
		return err
	}
	j.start = j.Options.start.clone()
	if err := j.link(); err != nil {
		return err
	}
	for i, name := range j.Outside {
		if j.Outside[i] = filepath.Join(home, name); !j.regular(j.Outside[i]) {
			return fmt.Errorf("--outside: %s: there is no such regular file, and the command makes none", name)
		}
	}
	end := j.start.clone()
	for _, op := range j.Log {
		if err := end.apply(op); err != nil {
			return err
		}
	}
	j.accepted, j.end = j.start.sum(), end.sum()
	j.before, j.after = j.start.view(), end.view()
	unused := new(Result)
	if err := j.newCheckers(true); err != nil {
		return err
	}
	if len(j.Check) == 0 {
		return j.beginAdvice(ctx, end, unused)
	}
	last := &job{tree: end}
	if at := len(j.Log) - 1; at >= 0 {
		last = j.job(end, j.end, at, func() []disk.Loss { return nil })
	}
	v, err := j.accepts(ctx, last)
	if err != nil {
		return err
	}
	j.verdicts[last.sum] = v
	if err := j.same(ctx, last, v); err != nil {
		return err
	}
	first := &job{tree: j.start}
	if j.Tell {
		first.log = &logged{j.told, -1, nil}
	}
	if v, err = j.check(ctx, first, unused); err != nil {
		return err
	}
	j.rejected = !v.passed && !v.undecided
	return nil
}

// accepts sees to it that the checker accepts what the command has left. Where it does so only
// elsewhere than at the node's home, it is to be elsewhere.
func (j *judge) accepts(ctx context.Context, last *job) (*verdict, error) {
	atHome := j.elsewhere == ""
	v, err := j.acceptsThere(ctx, last)
	if err == nil || !atHome || ctx.Err() != nil {
		return v, err
	}
	j.close()
	if e := j.newCheckers(false); e != nil {
		return nil, e
	}
	v, e := j.acceptsThere(ctx, last)
	if e != nil {
		return nil, err
	}
	j.elsewhere = fmt.Sprintf("at %s it rejects what the command left", home)
	return v, nil
}

func (j *judge) acceptsThere(ctx context.Context, last *job) (*verdict, error) {
	v, err := j.confirmed(ctx, last, new(Result), nil)
	switch {
	case err != nil:
		return nil, err
	case v.undecided:
		return nil, fmt.Errorf("the checker, on the files as the command left them, without a power loss: %s", v.status)
	case !v.passed:
		return nil, fmt.Errorf("the checker rejects the files as the command left them, without a power loss: %s%s", v, j.lost(last.tree))
	}
	return v, nil
}

// lost says which file the checker's command line names that is there from here and not where the
// checker is run, or is empty.
func (j *judge) lost(t *tree) string {
	for _, word := range strings.Fields(strings.Join(j.Check[1:], " ")) {
		if filepath.IsAbs(word) || !strings.Contains(word, "/") {
			continue
		}
		if _, err := os.Stat(word); err != nil {
			continue
		}
		if at := filepath.Join(home, word); !within(at, home) || t.find(at) == nil {
			return fmt.Sprintf("\n  the checker runs in %s, where there is no %s: name it by its whole path", home, word)
		}
	}
	return ""
}

// newCheckers makes those that look at images, at the node's home if that is wanted and can be.
func (j *judge) newCheckers(atHome bool) error {
	j.checkers = make(chan *looker, j.Workers)
	for n := range j.Workers {
		if len(j.Check)+len(j.Read) == 0 {
			break
		}
		dir := filepath.Join(j.Temp, fmt.Sprint("checker-", n))
		checker.Remove(dir)
		c, err := newChecker(slices.Concat(j.Check, j.Read), dir, j.Beside, j.Timeout, atHome)
		var cannot homeError
		if errors.As(err, &cannot) {
			j.elsewhere = cannot.Error()
			j.close()
			return j.newCheckers(false)
		}
		if err != nil {
			return err
		}
		j.checkers <- c
	}
	return nil
}

// beginAdvice finds out what there is to find before the first operation and after the last one.
func (j *judge) beginAdvice(ctx context.Context, end *tree, unused *Result) error {
	if len(j.Read) > 0 {
		for t, v := range map[*tree]*view{j.start: &j.before, end: &j.after} {
			found, err := j.look(ctx, &job{tree: t}, unused, nil)
			if err != nil {
				return err
			}
			if found.undecided {
				return fmt.Errorf("the reader: %s", found.status)
			}
			*v = found.read
			if err := j.same(ctx, &job{tree: t}, found); err != nil {
				return err
			}
		}
	}
	j.advisor = &advisor{j.before, j.after, map[string]int{}, j.start.find(home)}
	return nil
}

// close ends the checkers, of which none works.
func (j *judge) close() {
	for range len(j.checkers) {
		(<-j.checkers).close()
	}
}

// regular reports whether there is a regular file of a name at first, or is one later.
func (j *judge) regular(name string) bool {
	if f := j.start.find(name); f != nil {
		return f.attr.Mode&unix.S_IFMT == unix.S_IFREG
	}
	return slices.ContainsFunc(j.Log, func(op *disk.Op) bool {
		at := op.Path
		switch op.Kind {
		case disk.Create, disk.Link:
		case disk.Rename:
			at = op.ToPath
		default:
			return false
		}
		return at == name && op.Attr.Mode&unix.S_IFMT == unix.S_IFREG
	})
}

// outside reports whether an operation is about a file that is not on the disk.
func (j *judge) outside(t *tree, op *disk.Op) bool {
	return slices.ContainsFunc(j.Outside, func(name string) bool {
		return op.Path == name || op.ToPath == name || t.is(op.Ino, name)
	})
}

// check lets a checker or a reader look at files, unless it is known what it says of them.
func (j *judge) check(ctx context.Context, work *job, r *Result) (*verdict, error) {
	if len(j.Check)+len(j.Read) == 0 {
		return new(verdict), ctx.Err()
	}
	if j.Apart {
		check := func() (*verdict, error) { return j.confirmed(ctx, work, r, nil) }
		if len(j.Signature) > 0 {
			return j.checkSigned(ctx, work, r, check)
		}
		return check()
	}
	told, s := work.identity(), newSight(work.tree)
	if v := j.merged.find(told, s); v != nil {
		audit := j.Audit > 0 && float64(binary.LittleEndian.Uint32(work.sum[:])) < j.Audit*(1<<32)
		var err error
		if audit {
			err = j.audit(ctx, work, r, v)
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		if r.Merged++; audit {
			r.Audited++
		}
		return v, err
	}
	if len(j.Signature) > 0 {
		return j.checkSigned(ctx, work, r, func() (*verdict, error) { return j.checkAnew(ctx, work, r, told, s) })
	}
	return j.checkAnew(ctx, work, r, told, s)
}

// checkSigned lets a checker look at files, unless an image with the same signature is known. The
// signature is that of a file's state as the checker sees it, so it counts with what it is told.
func (j *judge) checkSigned(ctx context.Context, work *job, r *Result,
	check func() (*verdict, error)) (*verdict, error) {
	c := <-j.checkers
	signed, took, err := c.sign(ctx, work, j.Signature)
	j.checkers <- c
	if err != nil {
		return nil, err
	}
	ok := signed.passed
	key := sha256.Sum256([]byte(work.identity() + "\x00" + signed.output))
	j.mu.Lock()
	r.Writing += took.writing
	r.Checking += took.checking
	if !ok {
		if r.Unsigned++; r.Unsigned == 1 {
			r.FirstUnsigned = signed.String()
		}
	}
	known := j.signed[key]
	if ok && known != nil {
		r.Equal++
		j.mu.Unlock()
		return known, nil
	}
	j.mu.Unlock()
	v, err := check()
	if err == nil && ok && !v.undecided {
		j.mu.Lock()
		j.signed[key] = v
		j.mu.Unlock()
	}
	return v, err
}

// checkAnew lets a checker or a reader look at files, and finds out where it looks if that is
// worthwhile. told and s are the identity and the sight of the files.
func (j *judge) checkAnew(ctx context.Context, work *job, r *Result, told string, s *sight) (*verdict, error) {
	if !j.merged.watching() {
		return j.confirmed(ctx, work, r, nil)
	}
	w := newWatch(work.tree)
	v, err := j.confirmed(ctx, work, r, w)
	if err == nil && v.undecided && !v.flaky { // it takes longer so
		j.merged.stop()
		return j.confirmed(ctx, work, r, nil)
	}
	if err == nil && w.all == "" && !v.flaky {
		j.merged.add(told, s, w.places, v)
	}
	return v, err
}

// audit looks whether an image gets the verdict of the one that it is taken for.
func (j *judge) audit(ctx context.Context, work *job, r *Result, v *verdict) error {
	again, err := j.look(ctx, work, r, nil)
	if err == nil && !again.undecided && !again.equals(v) {
		err = fmt.Errorf("the checker says %q of one image and %q of another one that is the same wherever the checker looked: the checker depends on more than the files, or this is a bug of Ariadne (--apart checks each image)", again.status, v.status)
	}
	return err
}

// same sees to it that runs are watched only if the checker says the same then, as it does not
// where it traces processes itself.
func (j *judge) same(ctx context.Context, work *job, v *verdict) error {
	if j.Apart {
		return nil
	}
	again, err := j.look(ctx, work, new(Result), newWatch(work.tree))
	if err == nil && again.equals(v) {
		return nil
	}
	j.Apart = true
	return ctx.Err()
}

// confirmed lets a checker or a reader look at files, and once more at those that it rejects: it
// has to do so twice. The watch, of the first run, may be nil.
func (j *judge) confirmed(ctx context.Context, work *job, r *Result, w *watch) (*verdict, error) {
	v, err := j.look(ctx, work, r, w)
	if err != nil || v.passed || v.undecided || len(j.Check) == 0 {
		return v, err
	}
	again, err := j.look(ctx, work, r, nil)
	switch {
	case err != nil:
		return nil, err
	case again.undecided:
		return again, nil
	case again.passed:
		return &verdict{undecided: true, flaky: true, status: "it rejects the files in one run and accepts them in the next (" + v.status + ")", output: v.output}, nil
	}
	return v, nil
}

// look lets a checker or a reader look at files. The watch may be nil.
func (j *judge) look(ctx context.Context, work *job, r *Result, w *watch) (*verdict, error) {
	c := <-j.checkers
	defer func() { j.checkers <- c }()
	v, took, err := c.check(ctx, work, w)
	if err == nil && len(j.Check) == 0 && !v.undecided {
		v = &verdict{read: printed(v.output + v.status)}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	r.Writing += took.writing
	r.Checking += took.checking
	return v, err
}
