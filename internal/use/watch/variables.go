package watch

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/native/probe"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// program is a file that was read.
type program struct {
	entry     uint64           // the address at which it begins
	sites     []debuginfo.Site // of variables
	functions []int            // by query: those that have probes
	probed    ariadne.Time     // when these were set, by the machine's clock
	probes    *probe.Program   // nil: there are none
	unprobed  []int            // by query: those that could not be probed, because of wrong
	wrong     string           // why nothing of it can be read
	ready     bool             // the file was read
}

// readVariable reads a variable of the first of some processes that has it.
func (a *Agent) readVariable(p *spec.Probe, pids []int) polled {
	is := polled{}
	for _, pid := range pids {
		tid, ok := native.Living(pid)
		if !ok {
			continue // it has ended, and its parent does not know yet
		}
		path := fmt.Sprintf("/proc/%d/exe", tid)
		id, err := native.IdentifyPath(path)
		if errors.Is(err, fs.ErrNotExist) {
			is.wrong = cmp.Or(is.wrong, "a process ends")
			continue
		} else if err != nil {
			is.wrong = cmp.Or(is.wrong, cannot(err).wrong)
			continue
		}
		of := a.programs[id]
		switch {
		case of == nil:
			a.learnPath(path, id)
			is.waits = true
			continue
		case !of.ready:
			is.waits = true
			continue
		case of.wrong != "":
			is.wrong = cmp.Or(is.wrong, of.wrong)
			continue
		}
		i := slices.IndexFunc(of.sites, func(s debuginfo.Site) bool { return a.of[s.Query].Name == p.Name })
		if i < 0 {
			continue
		}
		bias, ok, err := native.Bias(tid, of.entry)
		switch {
		case err != nil:
			return cannot(err)
		case !ok:
			return polled{wrong: "a process ends"}
		}
		m := native.Memory{PID: tid}
		values := of.sites[i].Rest(&m, bias)
		switch {
		case m.Err != nil:
			return cannot(m.Err)
		case slices.Contains(values, debuginfo.Unknown):
			return polled{wrong: "it has no value that can be read"}
		}
		for k := range values {
			values[k] = printable(values[k])
		}
		return polled{is: true, values: values, word: m.IsWord()}
	}
	return is
}

// learnPath reads the program at a path, unless another one is there now.
func (a *Agent) learnPath(path string, id native.FileID) {
	f, err := os.Open(path)
	if err != nil {
		return // the process has ended
	}
	if is, err := native.IdentifyFile(f); err != nil || is != id {
		f.Close()
		return
	}
	a.learn(f, id)
}

// learn reads the debug information of a program that a node has begun since it is watched, once,
// beside the loop, and closes its file.
func (a *Agent) learn(f *os.File, id native.FileID) {
	if a.programs[id] != nil {
		f.Close()
		return
	}
	waits := &program{}
	a.programs[id] = waits
	queries, reading := a.queries, a.reading
	var found *finding
	var err error
	a.beside(func() error {
		reading.Lock() // it takes much memory
		defer reading.Unlock()
		found, err = findIn(f, queries)
		return nil
	}, func() error {
		defer f.Close()
		if a.programs[id] != waits {
			return nil // the properties have changed
		}
		if err == nil {
			if err = a.enterProgram(id, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), found); err == nil {
				return nil
			}
		}
		a.programs[id] = &program{ready: true, wrong: err.Error()}
		if found != nil {
			a.programs[id].unprobed = mapped(found.functions, func(s debuginfo.Site) int { return s.Query })
		}
		return nil
	})
}

// finding is what was found in a program's file.
type finding struct {
	file      *elf.File
	variables program
	functions []debuginfo.Site
}

// findIn finds variables and functions in a program's file.
func findIn(r io.ReaderAt, queries []debuginfo.Query) (*finding, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	sites, err := debuginfo.Sites(f, queries)
	if err != nil {
		return nil, err
	}
	found := &finding{file: f, variables: program{entry: f.Entry, ready: true}}
	for _, s := range sites {
		if s.Kind == debuginfo.Rests {
			found.variables.sites = append(found.variables.sites, s)
		} else {
			found.functions = append(found.functions, s)
		}
	}
	return found, nil
}

// enterProgram enters what was found in a program, and sets probes at its functions.
func (a *Agent) enterProgram(id native.FileID, path string, found *finding) error {
	a.programs[id] = &found.variables
	for _, s := range slices.Concat(found.functions, found.variables.sites) {
		a.found[s.Query] = true
	}
	if found.functions == nil {
		return nil
	}
	for _, s := range found.functions {
		found.variables.functions = append(found.variables.functions, s.Query)
	}
	p, err := a.kernel.Probe(path, found.file, found.functions, a.queries)
	found.variables.probes, found.variables.probed = p, native.Now()
	if err == nil && p.ID() != id {
		err = errors.Join(fmt.Errorf("%s was changed while it was read", path), p.Close())
	}
	return err
}

// lacksAfter is how long a program may need to begin the one that has a variable.
const lacksAfter = 2 * time.Second

// seekVariables tells which variables no process of a node has had so far. A client need not have
// those of servers.
func (a *Agent) seekVariables(n *watched, wait time.Duration) {
	if n.lacks == nil {
		n.lacks = map[string]bool{}
		for i := range a.spec.Probes {
			if p := &a.spec.Probes[i]; p.Variable != "" && n.needs(p) {
				n.lacks[p.Name] = true
			}
		}
	}
	for name := range n.lacks {
		if v, ok := n.polls.values[name]; ok && v.is {
			delete(n.lacks, name)
		}
	}
	n.lacking = nil
	if n.polls.first != 0 && a.now() >= n.polls.first.Add(wait) {
		for _, name := range slices.Sorted(maps.Keys(n.lacks)) {
			n.lacking = append(n.lacking, sourceOf(a.spec, name)+" in a program with debug information")
		}
	}
	was := n.sought
	if a.seek(n); len(n.lacking) > 0 && n.sought != was && a.onWait != nil && !a.ending {
		a.onWait(fmt.Sprintf("node %s: not found yet: %s", n.def.Name, n.sought))
	}
}
