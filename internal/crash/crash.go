//go:build linux

// Package crash judges the files that a power loss may leave of a program's work: it follows the log of
// the operations that the program made, forms the images of each point, puts each that is
// different into a directory of its own, and lets a checker look at it.
//
// It does not run the program (internal/run does, in a node), and does not decide what may be lost
// (internal/disk). The checker is no node's: it is run as it is, on this machine, so that thousands of images
// cost seconds.
//
// What always holds: a verdict is the checker's, on exactly these files; files that were judged
// are not judged again; the checker has accepted what the program left without a loss.
//
// Read next: crash.go, then tree.go.
package crash

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"ariadne/internal/disk"

	"golang.org/x/sys/unix"
)

// Options say what is to be judged, and how.
type Options struct {
	Dir     string // what the node's home held before, or ""
	Log     []*disk.Op
	Check   []string // the checker's command line; it accepts by status 0
	Model   disk.Model
	Images  int // of one point, at most
	Seed    uint64
	Workers int
	Timeout time.Duration // of one check
	// Outside are files in the home, by their paths from there, that are not on the machine's disk. They are as they
	// were at the moment of the loss.
	Outside []string
	// Temp is where images are put.
	Temp string
	// Progress, when not nil, is told now and then.
	Progress func(*Result)
}

// Result is what came of it.
type Result struct {
	Model      string  `json:"model"`
	Operations int     `json:"operations"`
	Judged     int     `json:"judged"`   // operations after which all images were judged: all, unless it was interrupted
	Points     int     `json:"points"`   // operations after which images were formed
	Images     int     `json:"images"`   // formed
	Distinct   int     `json:"distinct"` // and judged: no two of them look the same to a program
	Passed     int     `json:"passed"`
	Failed     int     `json:"failed"`
	LeftOut    float64 `json:"left_out"`           // subsets of operations that the model allows and that were not looked at
	AtLeast    bool    `json:"at_least,omitempty"` // there are more
	Groups     []Group `json:"groups,omitempty"`
	// Shortest is the failing image that lacks least.
	Shortest *Failure `json:"shortest,omitempty"`
	// Before says that the checker rejects the files as they were before the first operation. Images equal to them are
	// not counted as failing.
	Before bool `json:"fails_before,omitempty"`

	// Statuses says how often the checker ended how, of what failed.
	Statuses map[string]int `json:"statuses,omitempty"`

	Seconds float64 `json:"seconds"`
	// Forming, Writing and Checking are how long workers took to form images, to write them and to check
	// them.
	Forming  float64 `json:"forming"`
	Writing  float64 `json:"writing"`
	Checking float64 `json:"checking"`
}

// Group is the failing images that the same loss is to blame for.
type Group struct {
	Lost   string `json:"lost,omitempty"` // nothing: a stop of the program alone leaves such files
	Kept   string `json:"kept"`           // what reached the disk all the same
	Images int    `json:"images"`
	// Example is the one that lacks least.
	Example *Failure `json:"example"`
}

// String says what is to blame.
func (g *Group) String() string {
	if g.Lost == "" {
		return g.Kept + ", and nothing after it"
	}
	return g.Kept + " before " + g.Lost
}

// Failure is an image that the checker has rejected.
type Failure struct {
	Operation int      `json:"operation"` // after which the power was lost, from 1
	Last      string   `json:"last"`      // that operation
	Lost      []string `json:"lost"`
	Name      string   `json:"name"` // of the image: the parts of operations that it lacks
	Status    string   `json:"status"`
	Output    string   `json:"output"` // its last lines

	missing    []disk.Part
	at         int  // the last operation's place in the walk
	again      bool // another image was the same to the checker
	lost, kept string
}

// verdict of a checker.
type verdict struct {
	passed         bool
	status, output string
}

type judge struct {
	Options
	*Result
	verdicts map[[sha256.Size]byte]*verdict
	dirs     int
	failures []*Failure
	shown    time.Time
	times    sync.Mutex
}

// Judge judges all images of a log. When ctx ends it returns what it has, and the error of ctx.
func Judge(ctx context.Context, o Options) (*Result, error) {
	j := &judge{Options: o, Result: &Result{Model: o.Model.String(), Operations: len(o.Log), Statuses: map[string]int{}}, verdicts: map[[sha256.Size]byte]*verdict{}}
	began := time.Now()
	err := j.all(ctx)
	j.Seconds = time.Since(began).Seconds()
	j.group()
	return j.Result, err
}

func (j *judge) all(ctx context.Context) error {
	t, err := load(j.Dir)
	if err != nil {
		return err
	}
	for i, name := range j.Outside {
		if j.Outside[i] = filepath.Join(home, name); !j.regular(t, j.Outside[i]) {
			return fmt.Errorf("outside the disk: no regular file %s is there, nor is one made", name)
		}
	}
	first, err := t.with(&disk.Image{}, nil)
	if err != nil {
		return err
	}
	before, err := j.check(ctx, first)
	if err != nil {
		return err
	}
	if j.Before = !before.passed; j.Before {
		j.verdicts[first.sum()] = &verdict{passed: true}
	}
	if err := j.accepted(ctx, t); err != nil {
		return err
	}
	if t, err = load(j.Dir); err != nil {
		return err
	}
	w := disk.NewWalk(j.Options.Model, disk.Choice{Limit: j.Options.Images, Seed: j.Seed})
	for k, op := range j.Log {
		if err := t.apply(op); err != nil {
			return err
		}
		var images *disk.Images
		if j.outside(t, op) {
			images = w.Again()
		} else {
			images = w.Add(op)
		}
		if len(images.Lost) > 0 {
			j.Points++
		}
		j.LeftOut += math.Max(images.Legal-float64(images.Subsets), 0)
		j.AtLeast = j.AtLeast || !images.Exact
		if err := j.point(ctx, t, k, images); err != nil {
			return err
		}
		j.Judged++
		if len(t.sums) > 1<<12 {
			clear(t.sums)
		}
	}
	return nil
}

// regular reports whether there is a regular file of a name at first, or is one later.
func (j *judge) regular(t *tree, name string) bool {
	if f := t.find(name); f != nil {
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

// accepted sees to it that the checker accepts what the program left.
func (j *judge) accepted(ctx context.Context, t *tree) error {
	for _, op := range j.Log {
		if err := t.apply(op); err != nil {
			return err
		}
	}
	v, err := j.check(ctx, t)
	if err == nil && !v.passed {
		err = fmt.Errorf("the checker rejects the files as the command left them, without a power loss: %s: %s", v.status, v.output)
	}
	return err
}

// outside reports whether an operation is about a file that is not on the disk.
func (j *judge) outside(t *tree, op *disk.Op) bool {
	return slices.ContainsFunc(j.Outside, func(name string) bool {
		return op.Path == name || op.ToPath == name || t.find(name) != nil && t.known[op.Ino] == t.find(name)
	})
}

// point judges the images of a point of the log.
func (j *judge) point(ctx context.Context, t *tree, at int, images *disk.Images) error {
	type job struct {
		n    int
		tree *tree
		sum  [sha256.Size]byte
	}
	var jobs []job
	queued := map[[sha256.Size]byte]bool{}
	of := make([][sha256.Size]byte, len(images.Lost))
	for n := range images.Lost {
		began := time.Now()
		left, err := t.with(images.Image(n), j.Outside)
		if err != nil {
			return err
		}
		of[n] = left.sum()
		if j.verdicts[of[n]] == nil && !queued[of[n]] {
			queued[of[n]] = true
			jobs = append(jobs, job{n, left, of[n]})
		}
		j.Forming += time.Since(began).Seconds()
	}
	j.Result.Images += len(images.Lost)
	next := make(chan job)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range min(j.Workers, len(jobs)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for job := range next {
				v, err := j.check(ctx, job.tree)
				mu.Lock()
				if j.verdicts[job.sum] = v; failed == nil {
					failed = err
				}
				mu.Unlock()
			}
		}()
	}
	for _, job := range jobs {
		next <- job
	}
	close(next)
	wg.Wait()
	if failed != nil && ctx.Err() == nil {
		return failed
	}
	for n, sum := range of {
		v := j.verdicts[sum]
		if v == nil || v.passed { // nil: it was interrupted
			continue
		}
		lost, kept := images.Blame(n)
		if lost != "" && kept == "" { // it is for what is not on the disk
			kept = j.Log[at].String()
		}
		j.failures = append(j.failures, &Failure{Operation: at + 1, Last: short(j.Log[at].String()), Lost: words(images.Words(n)), Name: images.Lost[n].String(),
			Status: v.status, Output: v.output, missing: images.Missing(n), at: images.Last(), lost: short(lost), kept: short(kept), again: !queued[sum]})
		queued[sum] = false
	}
	for _, job := range jobs {
		switch v := j.verdicts[job.sum]; {
		case v == nil:
			continue
		case v.passed:
			j.Passed++
		default:
			j.Failed++
			j.Statuses[v.status]++
		}
		j.Distinct++
	}
	if failed != nil {
		return failed
	}
	if j.Progress != nil && time.Since(j.shown) > 200*time.Millisecond {
		j.shown = time.Now()
		j.Progress(j.Result)
	}
	return nil
}

// check lets the checker look at files.
func (j *judge) check(ctx context.Context, t *tree) (*verdict, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	began := time.Now()
	dir, err := os.MkdirTemp(j.Temp, "image-")
	if err != nil {
		return nil, err
	}
	defer remove(dir)
	work := filepath.Join(dir, "node")
	if err := t.write(work); err != nil {
		return nil, err
	}
	written := time.Now()
	ctx, cancel := context.WithTimeout(ctx, j.Timeout)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, j.Check[0], j.Check[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = work, &out, &out
	cmd.Env = append(os.Environ(), "PWD="+work)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err = cmd.Run()
	j.times.Lock()
	j.Writing += written.Sub(began).Seconds()
	j.Checking += time.Since(written).Seconds()
	j.times.Unlock()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return &verdict{passed: true}, nil
	case ctx.Err() == context.DeadlineExceeded:
		return &verdict{status: fmt.Sprintf("it did not end within %v", j.Timeout), output: tail(out.String())}, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &exit):
		return &verdict{status: exit.String(), output: tail(out.String())}, nil
	}
	return nil, fmt.Errorf("checker: %w", err)
}

// remove removes a directory with all that is in it, whatever modes its directories have.
func remove(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	filepath.WalkDir(dir, func(name string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() { // called before it is read
			os.Chmod(name, 0o700)
		}
		return nil
	})
	os.RemoveAll(dir) // what is left goes with Temp
}

// short shows paths as they are from the home.
func short(s string) string { return strings.ReplaceAll(s, home+"/", "") }

func words(all []string) []string {
	for i := range all {
		all[i] = short(all[i])
	}
	return all
}

// tail are the last lines of an output.
func tail(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(len(lines)-6, 0):], "\n")
}

// lacks reports whether an image lacks something of an operation.
func lacks(f *Failure, op int) bool {
	return slices.ContainsFunc(f.missing, func(p disk.Part) bool { return p.Op == op })
}

// group divides what failed by what is to blame: of each failing image it looks for the earliest failing one
// that lacks something only of operations of which this one does as well, and whose last operation this one has. Without
// that operation the files had been accepted, or they would have been found earlier.
func (j *judge) group() {
	slices.SortStableFunc(j.failures, func(a, b *Failure) int {
		return cmp.Or(a.Operation-b.Operation, len(a.missing)-len(b.missing))
	})
	var first []*Failure
	groups := map[[2]string]*Group{}
	for _, f := range j.failures {
		i := slices.IndexFunc(first, func(g *Failure) bool {
			for _, p := range g.missing {
				if !lacks(f, p.Op) {
					return false
				}
			}
			return f.Operation == g.Operation || !lacks(f, g.at)
		})
		if i < 0 {
			i, first = len(first), append(first, f)
		}
		by := first[i]
		key := [2]string{by.lost, by.kept}
		if groups[key] == nil {
			groups[key] = &Group{Lost: by.lost, Kept: by.kept, Example: by}
		}
		if !f.again {
			groups[key].Images++
		}
		if s := j.Shortest; s == nil || len(f.missing) < len(s.missing) {
			j.Shortest = f
		}
	}
	for _, g := range groups {
		if g.Images > 0 {
			j.Groups = append(j.Groups, *g)
		}
	}
	slices.SortFunc(j.Groups, func(a, b Group) int {
		return cmp.Or(b.Images-a.Images, strings.Compare(a.String(), b.String()))
	})
}
