//go:build linux

package disk

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk/fsmodel"
	"github.com/ariadne-mc/ariadne/internal/system/stack"
)

// Trace is a recorded execution. Images that are formed from it are the same each time.
type Trace struct {
	Name   string
	Calls  []fsmodel.Call // of the ready-made checker
	Failed []bool         // which calls failed
	Fault  stack.Fault    // that has happened, or ""
	base   []*block.Disk
	Log    []block.Op
	// Failing is an image that was rejected, or nil.
	Failing *Loss
	// Again is the log of the recovery in which the power was lost once more.
	Again []block.Op

	SpecPath string
	SpecText []byte
	Seed     uint64
}

// Loss is a loss of power at a position of a log.
type Loss struct {
	At    int
	Lost  []block.Loss
	Again *Loss // during the recovery
}

// stored is a trace as it is written.
type stored struct {
	Trace Trace
	Sizes []int64
	Pages []devicePage
}

// devicePage is a part of a device.
type devicePage struct {
	Device int
	Offset int64
	Data   []byte
}

// traceHeader is the first line of a file with a trace; the version is its last word.
const traceHeader = "ariadne disk trace 1\n"

// Write writes a trace to a file.
func (t *Trace) Write(name string) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	s := stored{Trace: *t}
	s.Trace.base = nil
	for i, d := range t.base {
		s.Sizes = append(s.Sizes, d.Size())
		for offset, data := range d.Pages {
			s.Pages = append(s.Pages, devicePage{i, offset, data})
		}
	}
	if _, err := io.WriteString(f, traceHeader); err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	return errors.Join(gob.NewEncoder(z).Encode(&s), z.Close())
}

// ReadTrace reads a trace that was written to a file.
func ReadTrace(name string) (*Trace, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := bufio.NewReader(f)
	if line, err := b.ReadString('\n'); err != nil || line != traceHeader {
		return nil, fmt.Errorf("%s is no trace of ariadne disk of this version", name)
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var s stored
	if err := gob.NewDecoder(z).Decode(&s); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, size := range s.Sizes {
		d, err := block.NewDisk(size)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.Trace.base = append(s.Trace.base, d)
	}
	for _, p := range s.Pages {
		if p.Device >= len(s.Trace.base) || p.Device < 0 {
			return nil, fmt.Errorf("%s: it has no device %d", name, p.Device+1)
		}
		s.Trace.base[p.Device].Write(p.Data, p.Offset)
	}
	for _, o := range append(s.Trace.Log, s.Trace.Again...) {
		if o.Device >= len(s.Trace.base) || o.Device < 0 || o.Kind == block.Write && int64(len(o.Data)) != o.Length {
			return nil, fmt.Errorf("%s: %s is no request that it can have", name, &o)
		}
	}
	return &s.Trace, nil
}

// replay judges the images of a trace: the one that was rejected, or all.
func (j *judge) replay(ctx context.Context) error {
	t := j.Replay
	e := &execution{plan: &plan{name: t.Name, calls: t.Calls}, base: t.base, log: t.Log, results: t.Failed}
	if t.Fault != "" {
		e.plan.fault = &fault{kind: t.Fault, struck: true}
	}
	if f, ok := j.subject.(files); ok {
		e.history = f.history()
		for i, failed := range t.Failed {
			e.history.Add(t.Calls[i], !failed)
		}
	}
	j.Report.Executions = 1
	if t.Failing == nil {
		return j.judge(ctx, e)
	}
	r := &round{j: j, e: e, base: e.base, log: e.log}
	im := &image{at: t.Failing.At, epoch: epochAt(e.log, t.Failing.At)}
	lost := t.Failing
	if again := t.Failing.Again; again != nil {
		disks := r.lacking(lost)
		r = &round{j: j, e: e, base: disks, log: t.Again, parent: &image{at: im.at, epoch: im.epoch}}
		im.at, lost = again.At, again
	}
	walk := block.NewWalk(r.base, r.log, j.Spec.Sector)
	walk.To(lost.At)
	p := walk.Images(1, 0)
	im.n = p.Without(lost.Lost)
	disks, _ := p.Form(im.n)
	j.Points, j.Images, j.Checked = 1, 1, 1
	out, err := r.recover(ctx, <-j.free, disks, im.epoch, nil)
	if err != nil {
		return err
	}
	switch why := r.wrong(im.epoch, out); {
	case why == "":
		j.Passed++
	case out.late:
		j.undecided(why)
	default:
		j.Failed++
		r.parent = nil
		j.groups[""] = &Group{Layer: out.layer, Why: why, Images: 1, Executions: 1,
			Example: r.failure(im, lost.Lost, why)}
	}
	return nil
}

// lacking is the disks of a loss.
func (r *round) lacking(l *Loss) []*block.Disk {
	walk := block.NewWalk(r.base, r.log, r.j.Spec.Sector)
	walk.To(l.At)
	p := walk.Images(1, 0)
	disks, _ := p.Form(p.Without(l.Lost))
	return disks
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9]+`)

// Keep writes the example of each group to a directory of its own: the devices, a trace, and a text
// that says what is lost.
func (r *Report) Keep(s *Spec, dir string) error {
	for i := range r.Groups {
		g := &r.Groups[i]
		name := strings.Trim(notInNames.ReplaceAllString(g.Why, "-"), "-")
		g.Dir = filepath.Join(dir, fmt.Sprintf("%d-%s", i+1, strings.Trim(name[:min(len(name), 50)], "-")))
		if err := os.MkdirAll(g.Dir, 0o700); err != nil {
			return fmt.Errorf("keep: %w", err)
		}
		if err := g.keep(s); err != nil {
			return fmt.Errorf("keep: %w", err)
		}
	}
	return nil
}

func (g *Group) keep(s *Spec) error {
	t := g.Example.trace
	t.SpecPath, t.SpecText, t.Seed = s.Path, s.Text, s.Seed
	if err := t.Write(filepath.Join(g.Dir, "trace")); err != nil {
		return err
	}
	r := &round{j: &judge{Options: Options{Spec: s}}, base: t.base, log: t.Log}
	disks := r.lacking(t.Failing)
	if again := t.Failing.Again; again != nil {
		r.base, r.log = disks, t.Again
		disks = r.lacking(again)
	}
	for i, d := range disks {
		if err := writeDisk(filepath.Join(g.Dir, fmt.Sprintf("device%d.img", i+1)), d); err != nil {
			return err
		}
	}
	var b strings.Builder
	g.write(func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) })
	fmt.Fprintf(&b, "\nTo examine this image again: ariadne disk --replay %s\n", filepath.Join(g.Dir, "trace"))
	return os.WriteFile(filepath.Join(g.Dir, "README.txt"), []byte(b.String()), 0o644)
}

// writeDisk writes a device to a file, with holes for zeros.
func writeDisk(name string, d *block.Disk) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(d.Size()); err != nil {
		return err
	}
	for offset, data := range d.Pages {
		if _, err := f.WriteAt(data, offset); err != nil {
			return err
		}
	}
	return nil
}
