package system

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
)

// Programs list directories without an interest in most of what these hold: Python that
// of its script, shells for a pattern. So what directories beside the spec hold is taken
// once for a check, and from the trace for a replay (spec.Listings); what comes later
// does not show. The next check looks again.

// entries are what nodes find in a directory, sorted by name.
func (d *Digests) entries(path string) (entries []trace.Entry, err error) {
	host := hostPath(d.spec, path)
	shown := func(string) bool { return true }
	if besideSpec(path) {
		shown = d.spec.Shown(host)
	}
	list, err := os.ReadDir(host)
	for _, e := range list {
		if shown(e.Name()) {
			entries = append(entries, trace.Entry{Name: e.Name(), Kind: e.Type().String()})
		}
	}
	return entries, err
}

// list is over the names in a directory and their kinds.
func (d *Digests) list(entries []trace.Entry) ariadne.Digest {
	h := sha256.New()
	for _, e := range entries {
		fmt.Fprintf(h, "%q %s\n", e.Name, e.Kind)
	}
	digest := ariadne.Digest(h.Sum(nil))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lists[digest] = entries
	return digest
}

// maxNames is how many names a message about a directory has.
const maxNames = 3

// difference says what came to a directory and what went, if that is known.
func (d *Digests) difference(was, now ariadne.Digest) string {
	d.mu.Lock()
	old, known := d.lists[was]
	new := d.lists[now]
	d.mu.Unlock()
	if !known {
		return ""
	}
	var all []string
	for _, e := range new {
		switch i, found := find(old, e.Name); {
		case !found:
			all = append(all, e.Name+" is new")
		case old[i].Kind != e.Kind:
			all = append(all, e.Name+" is of another kind")
		}
	}
	for _, e := range old {
		if _, found := find(new, e.Name); !found {
			all = append(all, e.Name+" is gone")
		}
	}
	if n := len(all) - maxNames; n > 0 {
		all = append(all[:maxNames], fmt.Sprintf("and %d more", n))
	}
	return ": " + strings.Join(all, ", ")
}

func find(entries []trace.Entry, name string) (int, bool) {
	return slices.BinarySearchFunc(entries, name, func(e trace.Entry, name string) int {
		return cmp.Compare(e.Name, name)
	})
}

// lists are the directories beside the spec that were listed, and what they held.
func (u Used) lists() (lists []trace.List) {
	for _, f := range u.those(binds) {
		if f.Use != ariadne.FileList {
			continue
		}
		u.digests.mu.Lock()
		entries, known := u.digests.lists[f.Digest]
		u.digests.mu.Unlock()
		if known {
			lists = append(lists, trace.List{Path: f.Path, Entries: entries})
		}
	}
	return lists
}

// RecallLists takes from what stands beside the trace at path what directories held when
// it was made, as far as the trace says the same. Where that is not known, directories
// must hold what they did.
func (y *System) RecallLists(path string, t *trace.Trace) {
	b, err := readfile.AtMost(path+trace.HostSuffix, readfile.Record)
	if err != nil {
		return
	}
	h, err := trace.ParseHost(b)
	if err != nil {
		return // told by HostChanges, when it matters
	}
	for _, l := range h.Lists {
		f := trace.File{File: ariadne.File{Path: l.Path, Use: ariadne.FileList}, Digest: y.Digests.list(l.Entries)}
		if !binds(f.File) || !slices.Contains(t.Files, f) {
			continue
		}
		var names []string
		for _, e := range l.Entries {
			names = append(names, e.Name)
		}
		y.Spec.Listings.Hold(hostPath(y.Spec, l.Path), names)
	}
}
