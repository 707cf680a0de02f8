//go:build linux

package node

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/node/config"
)

// Functions by which nodes expose something have breakpoints where their parameters can be read, or
// where they return. What they are becomes an exposure of the output, as if the program had told it
// on /dev/ariadne. Variables are read whenever a step ends (look.go).

// probing is what is looked for in programs: of one list of probes. It grows only, since processes
// refer to its sites.
type probing struct {
	probes []config.Probe

	mu    sync.Mutex
	files map[string]*programs[probed] // by what is not looked for in them (found)
	sites []debuginfo.Site
}

// probed is what was found in a program file.
type probed struct {
	at        []probeSite
	variables []int            // in probing.sites
	has       []int            // in probing.probes, what it has
	code      []elf.ProgHeader // where in the file its code is
	err       error
}

// bias is what addresses are more than those of the file where code of it is mapped.
func (p *probed) bias(r *codeRange) (bias uint64, ok bool) {
	for _, h := range p.code {
		if h.Off < r.offset+(r.end-r.start) && r.offset < h.Off+h.Filesz {
			return r.start - (h.Vaddr + r.offset - h.Off), true
		}
	}
	return 0, false
}

type probeSite struct {
	offset uint64 // in the file
	site   int    // in probing.sites
}

// probings are those of this process, by what they look for: checks of the same spec share one.
var probings sync.Map

func probingOf(all []config.Probe) *probing {
	if len(all) == 0 {
		return nil
	}
	p := &probing{probes: slices.Clone(all), files: map[string]*programs[probed]{}}
	for i := range p.probes {
		p.probes[i].Ignored = false // which of them count at a node, its own list says
	}
	had, _ := probings.LoadOrStore(fmt.Sprintf("%#v", p.probes), p)
	return had.(*probing)
}

// found is what is found in a file that th's process has mapped, of all probes but those in not.
func (p *probing) found(th *thread, file string, not []int) probed {
	key := fmt.Sprint(not)
	p.mu.Lock()
	files := p.files[key]
	if files == nil {
		files = &programs[probed]{find: func(f *elf.File) probed { return p.sitesIn(f, not) }}
		p.files[key] = files
	}
	p.mu.Unlock()
	return files.of(th, file)
}

// sitesIn looks for functions and variables in a program, but for those of the probes in not.
func (p *probing) sitesIn(f *elf.File, not []int) (found probed) {
	var queries []debuginfo.Query
	var of []int // by query, in probes
	for i, q := range p.probes {
		if !slices.Contains(not, i) {
			queries, of = append(queries,
				debuginfo.Query{Function: q.Function, Variable: q.Variable, Values: q.Values,
					Returns: q.Returns}), append(of, i)
		}
	}
	all, err := debuginfo.Sites(f, queries)
	for i := range all {
		all[i].Query = of[all[i].Query]
	}
	found.err = err
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range f.Progs {
		if h.Type == elf.PT_LOAD && h.Flags&elf.PF_X != 0 {
			found.code = append(found.code, h.ProgHeader)
		}
	}
	for _, s := range all {
		if !slices.Contains(found.has, s.Query) {
			found.has = append(found.has, s.Query)
		}
		if s.Kind == debuginfo.Rests {
			found.variables = append(found.variables, len(p.sites))
			p.sites = append(p.sites, s)
		} else if offset, ok := offsetOf(f, s.Addr); ok {
			found.at = append(found.at, probeSite{offset, len(p.sites)})
			p.sites = append(p.sites, s)
		}
	}
	return found
}

func (p *probing) site(i int) *debuginfo.Site {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &p.sites[i]
}

// probe sets breakpoints in a program file that is mapped somewhere.
func (n *Node) probe(th *thread, r *codeRange) {
	var own []int // what the program itself has, its libraries have by chance
	if exe := th.k.Proc.Exe; r.file != exe {
		if own = n.probing.found(th, exe, nil).has; len(own) == len(n.probing.probes) {
			return // so nobody need look into them, which takes long
		}
	}
	found := n.probing.found(th, r.file, own)
	// Variables of libraries have the names that they have by chance.
	if found.err != nil && !(errors.Is(found.err, debuginfo.ErrSeveral) && r.file != th.k.Proc.Exe) {
		panic(toolError{&ariadne.SetupError{Err: fmt.Errorf("expose: %s: %w", r.file, found.err)}})
	}
	var seen []string
	for _, s := range found.at {
		if s.offset < r.offset || s.offset-r.offset >= r.end-r.start {
			continue
		}
		site := n.probing.site(s.site)
		q := &n.probing.probes[site.Query]
		if n.cfg.Probes[site.Query].Ignored {
			continue
		}
		if n.breakAt(th, r.start+s.offset-r.offset, "", s.site) && !slices.Contains(seen, q.Function) {
			seen = append(seen, q.Function)
			n.k.Notice(th.k.Proc.PID, q.What())
		}
	}
	n.findVariables(th, r, &found)
}

// findVariables notes the variables of a program file that is mapped somewhere.
func (n *Node) findVariables(th *thread, r *codeRange, found *probed) {
	bias, ok := found.bias(r)
	for _, i := range found.variables {
		p, q := th.k.Proc, &n.probing.probes[n.probing.site(i).Query]
		v := kernel.Variable{Site: i, Bias: bias}
		known := slices.ContainsFunc(p.Variables, func(v kernel.Variable) bool {
			// in the program itself, or an earlier library
			return n.probing.site(v.Site).Query == n.probing.site(i).Query
		})
		if ok && !n.cfg.Probes[n.probing.site(i).Query].Ignored && !known {
			p.Variables = append(slices.Clip(p.Variables), v)
			n.k.Notice(th.k.Proc.PID, q.What())
		}
	}
}

// expose notes that a function of th's program exposes something.
func (n *Node) expose(th *thread, name string, values []string) {
	n.k.Expose(th.k.Proc.PID, ariadne.Exposure{Name: name, Values: values})
}

// exposeAtBreak says what functions expose at whose breakpoint a thread stands.
func (n *Node) exposeAtBreak(th *thread, b *kernel.Break) {
	for _, i := range b.Sites {
		site := n.probing.site(i)
		q := &n.probing.probes[site.Query]
		switch {
		case q.Ends:
			key := ariadne.ExposureKey(site.Read(stopped{th}, b.Addr-site.Addr))
			n.k.Expose(th.k.Proc.PID, ariadne.Exposure{Name: q.Name, Key: key, Ends: true})
		case q.Returns:
			n.followCall(th, i, site, b.Addr-site.Addr)
		default:
			n.expose(th, q.Name, site.Read(stopped{th}, b.Addr-site.Addr))
		}
	}
	if b.Behind {
		n.exposeReturned(th, b)
	}
}

// mostCalls is how many calls that have not returned are remembered of a process. Those that a
// panic, an exception or a jump has ended are among them until another call has its frame where
// theirs was.
const mostCalls = 4096

// followCall goes with a call of a function at whose end something is exposed: th stands at its
// begin or at an end of it.
func (n *Node) followCall(th *thread, i int, site *debuginfo.Site, bias uint64) {
	q := &n.probing.probes[site.Query]
	if site.Kind == debuginfo.Copied {
		n.k.Refuse(th.k, "expose: the end of "+q.Function, "the compiler has put a copy of it into another function, and where that ends is not known: build without optimization", false)
		return
	}
	m := stopped{th}
	f, err := site.FrameAt(m)
	if err != nil {
		n.k.Refuse(th.k, "expose: the frame of "+q.Function, err.Error(), false)
		return
	}
	p := th.k.Proc
	at := slices.IndexFunc(p.Followed, func(c kernel.Followed) bool {
		return c.Probe == site.Query && c.Stack == f.Stack && c.Depth == f.Depth
	})
	c := kernel.Followed{Probe: site.Query, Stack: f.Stack, Depth: f.Depth}
	if at >= 0 {
		c = p.Followed[at]
		p.Followed = slices.Delete(p.Followed, at, at+1)
	}
	switch site.Kind {
	case debuginfo.Begins:
		c.Kept, c.Return = site.Keep(m, bias), 0
	case debuginfo.Returns:
		n.expose(th, q.Name, site.Return(m, c.Kept))
		return
	case debuginfo.Leaves:
		// It may stay, when the jump depends on a condition; then it comes to another end of it.
		var b [8]byte
		if err := m.Read(b[:], th.tr.SP()); err != nil {
			return
		}
		c.Site, c.Return = i, binary.LittleEndian.Uint64(b[:])
		if !n.breakBehind(th, c.Return) {
			n.k.Refuse(th.k, "expose: the end of "+q.Function, "no breakpoint can be set where it returns to", false)
		}
	}
	if len(p.Followed) == mostCalls {
		n.k.Refuse(th.k, "expose: calls of "+q.Function, fmt.Sprintf("more than %d have not returned", mostCalls),
			false)
		p.Followed = slices.Delete(p.Followed, 0, 1)
	}
	p.Followed = append(p.Followed, c)
}

// exposeReturned says what functions expose that have ended by a jump to another one, which has
// returned just now.
func (n *Node) exposeReturned(th *thread, b *kernel.Break) {
	p, m := th.k.Proc, stopped{th}
	for i := 0; i < len(p.Followed); i++ {
		c := p.Followed[i]
		if c.Return != b.Addr {
			continue
		}
		site := n.probing.site(c.Site)
		if f, err := site.FrameBehind(m); err != nil || f.Stack != c.Stack || f.Depth != c.Depth {
			continue
		}
		n.expose(th, n.probing.probes[c.Probe].Name, site.Return(m, c.Kept))
		p.Followed = slices.Delete(p.Followed, i, i+1)
		i--
	}
}

// stopped is a thread at a breakpoint, as a debuginfo.Machine.
type stopped struct{ *thread }

func (s stopped) Register(i int) uint64 { return s.tr.Registers()[i] }

func (s stopped) Vectors() ([16][16]byte, error) { return s.tr.VectorRegisters() }

func (s stopped) Read(b []byte, addr uint64) error {
	if s.tr.Peek(addr, b) != 0 {
		return errNoMemory
	}
	return nil
}

var errNoMemory = errors.New("there is no memory")
