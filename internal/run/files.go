package run

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"ariadne"
	"ariadne/internal/spec"
	"ariadne/internal/trace"
)

// digests computes the digests of the host's files, each once for as long as it
// looks the same.
type digests struct {
	spec  *spec.Spec
	mu    sync.Mutex
	known map[string]digested
}

type digested struct {
	size   int64
	mtime  time.Time
	digest ariadne.Digest
}

func newDigests(s *spec.Spec) *digests { return &digests{spec: s, known: map[string]digested{}} }

// of returns the digest of a file that nodes see at path.
func (d *digests) of(path string) (ariadne.Digest, error) {
	host := hostPath(d.spec, path)
	st, err := os.Stat(host)
	if err != nil {
		return ariadne.Digest{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.known[host]
	if ok && k.size == st.Size() && k.mtime.Equal(st.ModTime()) {
		return k.digest, nil
	}
	k = digested{size: st.Size(), mtime: st.ModTime()}
	if k.digest, err = fileDigest(host); err == nil {
		d.known[host] = k
	}
	return k.digest, err
}

// used collects which of the files that an execution uses belong into its trace: what
// was run, and what lies with the spec. What programs merely read elsewhere, such as
// the host's caches and tables, would tie a trace to one machine.
type used map[string]bool

func (u used) step(s ariadne.Step) {
	for _, f := range s.Output.Files {
		if f.Code || strings.HasPrefix(f.Path, "/spec/") {
			u[f.Path] = true
		}
	}
}

// files are those, with their digests. One that is gone by now is left out.
func (u used) files(d *digests) []trace.File {
	var files []trace.File
	for path := range maps.Keys(u) {
		if digest, err := d.of(path); err == nil {
			files = append(files, trace.File{Path: path, Digest: digest})
		}
	}
	slices.SortFunc(files, func(a, b trace.File) int { return cmp.Compare(a.Path, b.Path) })
	return files
}
