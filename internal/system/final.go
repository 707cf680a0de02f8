package system

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
	"github.com/ariadne-mc/ariadne/internal/system/checker"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// final lets the command of finally examine the files and lines that executions leave. The same
// files and lines are judged once, however many executions leave them.
type final struct {
	system *System

	mu       sync.Mutex
	verdicts map[hash.Hash]string
	doubts   []string
}

// finalJudge is who judges until ctx ends.
type finalJudge struct {
	*final
	ctx context.Context
}

// exporter is a node whose files can be copied.
type exporter interface{ Export(dir string) error }

// Judge implements space.Final. Goroutines may call it at the same time.
func (f *finalJudge) Judge(p *space.Path, byTime bool) (wrong string, err error) {
	if byTime && !f.system.Spec.EndsByTime {
		return "", nil
	}
	name := p.HashLeft()
	f.mu.Lock()
	wrong, known := f.verdicts[name]
	f.mu.Unlock()
	if known {
		return wrong, nil
	}
	wrong, doubt, err := f.judge(p)
	var cut memo.CutError
	if errors.As(err, &cut) {
		wrong, doubt, err = "", "finally: an execution could not be examined: "+cut.Error(), nil
	}
	if err != nil {
		return "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.verdicts[name] = wrong
	if doubt != "" && len(f.doubts) == 0 { // one is enough
		f.doubts = append(f.doubts, doubt)
	}
	return wrong, nil
}

// judge lets the command look, and again when it finds something: it must say the same twice.
func (f *finalJudge) judge(p *space.Path) (wrong, doubt string, err error) {
	var late bool
	for i := range 2 {
		var said string
		if said, late, err = f.once(p); err != nil || late {
			if late {
				return "", said, err
			}
			return "", "", err
		}
		if i == 1 && said != wrong {
			return "", fmt.Sprintf("finally: the command gives two verdicts on the same execution: %q and %q", wrong, said), nil
		}
		if wrong = said; wrong == "" {
			break
		}
	}
	return wrong, "", nil
}

// once puts into a directory what the nodes leave, and runs the command there.
func (f *finalJudge) once(p *space.Path) (said string, late bool, err error) {
	s := f.system.Spec
	temp, err := os.MkdirTemp("", "ariadne-finally-")
	if err != nil {
		return "", false, &ariadne.SetupError{Err: fmt.Errorf("finally: %w", err)}
	}
	defer checker.Remove(temp)
	dir := filepath.Join(temp, "nodes")
	if err := f.leave(p, dir); err != nil {
		return "", false, err
	}
	out, err := os.OpenFile(filepath.Join(temp, "output"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return "", false, err
	}
	defer out.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return "", false, err
	}
	defer null.Close()
	args := s.Properties.Finally.Args
	c := checker.Command{Program: args[0], Args: args, Dir: dir, In: null, Out: out, Timeout: s.Limits.Finally,
		Env: []string{"PATH=" + spec.Path, "HOME=" + dir, "LANG=C.UTF-8", "TZ=UTC", "PWD=" + dir,
			"PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0", "NODES=" + strings.Join(f.system.Names(), " ")}}
	how, late, err := c.Run(f.ctx)
	switch {
	case err != nil && f.ctx.Err() != nil:
		return "", false, ariadne.ErrInterrupted
	case err != nil:
		return "", false,
			&ariadne.SetupError{Err: fmt.Errorf("%s:%d: finally: %w", s.Path, s.Properties.Finally.Line, err)}
	case late:
		return "finally: " + how, true, nil
	case how == "":
		return "", false, nil
	}
	// Where the files lay is nothing that it found.
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(c.Said(), dir+"/", "")), "\n")
	lines = lines[max(0, len(lines)-maxInLine):]
	text := fmt.Sprintf("%s: %s", commandName(*s.Properties.Finally), how)
	if said := strings.TrimSpace(strings.Join(lines, "; ")); said != "" {
		text += ": " + said
	}
	return text, false, nil
}

// leave writes what the nodes leave: for each a directory with its files, and its lines.
func (f *final) leave(p *space.Path, dir string) error {
	s, last := f.system.Spec, p.Last()
	for i := range s.Nodes {
		at := filepath.Join(dir, s.Nodes[i].Name)
		if err := os.MkdirAll(at, 0o700); err != nil {
			return err
		}
		var log, out, diag strings.Builder
		for _, l := range last.Lines[i].All() {
			switch l.Stream {
			case 1:
				out.WriteString(l.Text + "\n")
			case 2:
				diag.WriteString(l.Text + "\n")
			}
			fmt.Fprintf(&log, "%d.%06d %s\n", int64(l.At)/1e9, int64(l.At)%1e9/1e3, l.Text)
		}
		for name, text := range map[string]string{"log": log.String(), "stdout": out.String(),
			"stderr": diag.String()} {
			if err := writeOld(filepath.Join(at, name), text); err != nil {
				return err
			}
		}
		files := filepath.Join(at, "files")
		if err := os.Mkdir(files, 0o700); err != nil {
			return err
		}
		if last.State.Locals[i].Depth == 0 {
			continue // it was never switched on
		}
		err := p.Space().Source.(space.Visitor).Visit(last.State.Locals[i], func(n memo.Instance) error {
			if e, ok := n.(exporter); ok {
				return e.Export(files)
			}
			return nil
		})
		var missing *fs.PathError
		if errors.As(err, &missing) {
			err = Bug{fmt.Errorf("finally: node %s: %w", s.Nodes[i].Name, err)}
		}
		if err != nil {
			return err
		}
	}
	for _, name := range s.Properties.Given {
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.Symlink(filepath.Join(s.Dir, name), to); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// writeOld writes a file that says nothing of when it was written.
func writeOld(name, text string) error {
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Chtimes(name, time.Unix(0, 0), time.Unix(0, 0))
}
