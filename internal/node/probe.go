//go:build linux

package node

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ariadne"
	"ariadne/internal/debuginfo"
	"ariadne/internal/kernel"
	"ariadne/internal/spec"
)

// Functions by which nodes expose something have breakpoints where their parameters can be read. What they are becomes a
// line of the output, as if the program had written it to /dev/ariadne.

// probing is what is looked for in programs: of one list of probes. It grows only, since processes refer to its sites.
type probing struct {
	probes []spec.Probe
	files  programs[probed]

	mu    sync.Mutex
	sites []debuginfo.Site
}

// probed is what was found in a program file.
type probed struct {
	at  []probeSite
	err error
}

type probeSite struct {
	offset uint64 // in the file
	site   int    // in probing.sites
}

// probings are those of this process, by what they look for: checks of the same spec share one.
var probings sync.Map

func probingOf(all []spec.Probe) *probing {
	if len(all) == 0 {
		return nil
	}
	p := &probing{probes: all}
	p.files.find = p.sitesIn
	had, _ := probings.LoadOrStore(fmt.Sprintf("%#v", all), p)
	return had.(*probing)
}

// sitesIn looks for the functions in a program.
func (p *probing) sitesIn(f *elf.File) (found probed) {
	var queries []debuginfo.Query
	for _, q := range p.probes {
		queries = append(queries, debuginfo.Query{Function: q.Function, Values: q.Values})
	}
	all, err := debuginfo.Sites(f, queries)
	if err != nil {
		return probed{err: err}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range all {
		if offset, ok := offsetOf(f, s.Addr); ok {
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
	found := n.probing.files.of(th, r.file)
	if found.err != nil {
		panic(toolError{&ariadne.SetupError{Err: fmt.Errorf("expose: %s: %w", r.file, found.err)}})
	}
	var seen []string
	for _, s := range found.at {
		if s.offset < r.offset || s.offset-r.offset >= r.end-r.start {
			continue
		}
		site := n.probing.site(s.site)
		q := &n.probing.probes[site.Query]
		if q.Nodes != nil && !slices.Contains(q.Nodes, n.def.ID) {
			continue
		}
		if n.breakAt(th, r.start+s.offset-r.offset, "", s.site) && !slices.Contains(seen, q.Function) {
			seen = append(seen, q.Function)
			n.expose(th.k, ariadne.ProbedLine(q.Function))
		}
	}
}

// expose enters a line as if the program had written it to /dev/ariadne.
func (n *Node) expose(k *kernel.Thread, line string) {
	n.k.Logs = append(n.k.Logs, ariadne.LogLine{At: n.k.Now, Stream: ariadne.Exposed, PID: k.Proc.PID, Text: line})
}

// arrived says what functions expose at whose breakpoint a thread stands.
func (n *Node) arrived(th *thread, b *kernel.Break) {
	for _, i := range b.Sites {
		site := n.probing.site(i)
		q := &n.probing.probes[site.Query]
		if q.Ends {
			n.expose(th.k, "conceal "+q.Name)
			continue
		}
		n.expose(th.k, exposeLine(q.Name, site.Read(stopped{th}, b.Addr-site.Addr)))
	}
}

// exposeLine is the line by which a program exposes something.
func exposeLine(name string, values []string) string {
	words := []string{"expose", name}
	for _, text := range values {
		if text == "" || strings.Contains(text, " ") || strconv.Quote(text) != `"`+text+`"` {
			text = strconv.Quote(text)
		}
		words = append(words, text)
	}
	return strings.Join(words, " ")
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
