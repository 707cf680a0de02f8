package debug

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
)

// A note is a text at a step of a trace. Notes lie in a file beside the trace, a line each, so that
// they last with it and go with it into a bug report.

// notesName is the file with the notes of a trace, or "" where none is debugged.
func (d *Debugger) notesName() string {
	if d.trace == "" {
		return ""
	}
	return d.trace + ".notes"
}

// readNotes reads the notes of the trace. A trace without notes is no error.
func (d *Debugger) readNotes() error {
	if d.notesName() == "" {
		return nil
	}
	b, err := readfile.AtMost(d.notesName(), readfile.Spec)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	d.notes = map[int][]string{}
	lines := bufio.NewScanner(bytes.NewReader(b))
	for n := 1; lines.Scan(); n++ {
		number, text, _ := strings.Cut(lines.Text(), " ")
		step, err := strconv.Atoi(number)
		if err != nil || step < 0 {
			return fmt.Errorf("%s:%d: a note begins with the number of a step, not %q", d.notesName(), n, number)
		}
		d.notes[step] = append(d.notes[step], text)
	}
	return lines.Err()
}

// writeNotes replaces the file of notes.
func (d *Debugger) writeNotes() error {
	name := d.notesName()
	if name == "" {
		return nil
	}
	var b bytes.Buffer
	for _, step := range d.noted() {
		for _, text := range d.notes[step] {
			fmt.Fprintf(&b, "%d %s\n", step, text)
		}
	}
	if b.Len() == 0 {
		if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".notes-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// changeNotes changes the notes that are in the file now: another debugger may have written some.
func (d *Debugger) changeNotes(change func()) error {
	if err := d.readNotes(); err != nil {
		return err
	}
	change()
	return d.writeNotes()
}

// noted are the steps that have notes, in order.
func (d *Debugger) noted() (steps []int) {
	for step := range d.notes {
		steps = append(steps, step)
	}
	slices.Sort(steps)
	return steps
}

// onTrace fails where the steps are not those of the trace.
func (d *Debugger) onTrace() error {
	if d.trace != "" && d.branch != traceName {
		return fmt.Errorf("notes are for the steps of the trace: go to the branch %s", traceName)
	}
	return nil
}

// note adds a note to the step here.
func (d *Debugger) note(args string) (string, error) {
	if err := d.onTrace(); err != nil {
		return "", err
	}
	n := d.Step()
	if err := d.changeNotes(func() { d.notes[n] = append(d.notes[n], args) }); err != nil {
		return "", err
	}
	return d.showNotes("")
}

// unnote removes the notes of the step here.
func (d *Debugger) unnote(string) (string, error) {
	if err := d.onTrace(); err != nil {
		return "", err
	}
	if err := d.changeNotes(func() { delete(d.notes, d.Step()) }); err != nil {
		return "", err
	}
	return d.showNotes("")
}

func (d *Debugger) showNotes(string) (string, error) {
	var b strings.Builder
	for _, step := range d.noted() {
		for _, text := range d.notes[step] {
			fmt.Fprintf(&b, "%5d  %s\n", step, printable(text))
		}
	}
	if b.Len() == 0 {
		return "there is no note\n", nil
	}
	return b.String(), nil
}

// Note is what is noted at a step, or "".
func (d *Debugger) Note(step int) string {
	if d.branch != traceName && d.trace != "" {
		return ""
	}
	return printable(strings.Join(d.notes[step], "; "))
}

// wander takes steps that are drawn from what can happen, from here on.
func (d *Debugger) wander(args string) (string, error) {
	number, seed, _ := strings.Cut(args, " ")
	count, err := numberOfSteps(number, 1)
	if err != nil {
		return "", err
	}
	var drawn uint64
	if seed = strings.TrimSpace(seed); seed != "" {
		if drawn, err = strconv.ParseUint(seed, 10, 64); err != nil {
			return "", fmt.Errorf("%q is no seed: want a number", seed)
		}
	}
	r := rand.New(rand.NewPCG(drawn, 0))
	for range count {
		choices := d.session.Enabled()
		if len(choices) == 0 {
			break
		}
		if err := d.take(choices[r.IntN(len(choices))].Name); err != nil {
			return "", err
		}
	}
	return d.where("")
}
