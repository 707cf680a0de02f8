//go:build linux

package crash

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
)

// imageDir and textFile are what lies in the directory of a failing image. In firstDir is the image
// from which a recovery began that was interrupted.
const (
	imageDir = "node"
	firstDir = "first"
	textFile = "README.txt"
)

// keep writes the example of each group to a directory of its own, with a text that says what is
// lost. Executions in which a call fails are not kept.
func (j *judge) keep(r *Result) error {
	if j.Keep == "" || r.Failures != nil {
		return nil
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		dir := filepath.Join(j.Keep, fmt.Sprintf("%s-%d-%s", slug(r.Name()), i+1, slug(g.Kept)))
		if err := j.keepOne(dir, r, g); err != nil {
			return fmt.Errorf("keep: %w", err)
		}
		g.Dir = dir
	}
	return nil
}

func (j *judge) keepOne(dir string, r *Result, g *Group) error {
	images := map[string]*tree{}
	var err error
	if first := g.Example.Recovery; first != nil {
		if images[firstDir], err = j.imageOf(r, first); err != nil {
			return err
		}
		j = g.Example.recovery
	}
	if images[imageDir], err = j.imageOf(r, g.Example); err != nil {
		return err
	}
	// All files of the image are the caller's, those with the set-user-ID bit, too: nobody else may
	// execute them.
	if err := errors.Join(os.MkdirAll(filepath.Dir(dir), 0o755), os.MkdirAll(dir, 0o700)); err != nil {
		return err
	}
	for name, t := range images {
		image := filepath.Join(dir, name)
		if err := os.MkdirAll(image, 0o755); err != nil {
			return err
		}
		if err := newSlot(image).fill(t); err != nil {
			return err
		}
	}
	var text strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	p("%s: %s: %s", r.Name(), g, g.Fail())
	p("%s holds the files as the program would find them in %s.", imageDir, home)
	if images[firstDir] != nil {
		p("%s holds the files from which the recovery began.", firstDir)
	}
	p("")
	r.describe(p, g.Example, math.MaxInt)
	return os.WriteFile(filepath.Join(dir, textFile), []byte(text.String()), 0o644)
}

// imageOf forms the image of a failure once more.
func (j *judge) imageOf(r *Result, f *Failure) (*tree, error) {
	m, err := disk.ParseModel(r.Model)
	if err != nil { // a kill: nothing is lost
		m = disk.Prefix
	}
	l, err := j.follow(m, f.Operation-1)
	if err != nil {
		return nil, err
	}
	return l.lacking(f.missing).form(0)
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9]+`)

// slug is a text as part of the name of a file.
func slug(text string) string {
	s := strings.Trim(notInNames.ReplaceAllString(text, "-"), "-")
	return s[:min(len(s), 60)]
}
