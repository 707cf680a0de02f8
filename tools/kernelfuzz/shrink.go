package main

import (
	"fmt"
	"strconv"
	"strings"
)

// until returns the case's lines up to the one that differs.
func (f Found) until() []string {
	n, _, _ := strings.Cut(f.Native, ":")
	if i, err := strconv.Atoi(n); err == nil && i < len(f.Case.Lines) {
		return f.Case.Lines[:i+1]
	}
	return f.Case.Lines
}

// Shrink removes lines from a case while it still differs in the same way. It tries many
// smaller ones in each run.
func (b *Bench) Shrink(f Found) (Found, error) {
	kind := f.Kind()
	short := f.Case
	if short.Lines = f.until(); len(short.Lines) < len(f.Case.Lines) {
		found, err := b.Differences([]Case{short})
		if err != nil {
			return f, err
		}
		if len(found) > 0 && found[0].Kind() == kind {
			f = found[0]
		}
	}
	for size := len(f.Case.Lines) / 2; size >= 1; {
		var tries []Case
		for at := 0; at < len(f.Case.Lines); at += size {
			lines := append([]string(nil), f.Case.Lines[:at]...)
			if end := at + size; end < len(f.Case.Lines) {
				lines = append(lines, f.Case.Lines[end:]...)
			}
			if len(lines) > 0 {
				tries = append(tries, Case{Name: fmt.Sprintf("%s-%d-%d", f.Case.Name, size, at), Lines: lines})
			}
		}
		found, err := b.Differences(tries)
		if err != nil {
			return f, err
		}
		better := false
		for _, g := range found {
			if g.Kind() == kind {
				g.Case.Name = f.Case.Name
				f, better = g, true
				break
			}
		}
		if !better {
			size /= 2
		} else {
			size = min(size, max(1, len(f.Case.Lines)/2))
		}
	}
	return f, nil
}
