package main

import "fmt"

// Shrink removes lines from a case while it still differs in the same way. It tries many
// smaller ones in each run.
func (b *Bench) Shrink(f Found) (Found, error) {
	kind := f.Kind()
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
