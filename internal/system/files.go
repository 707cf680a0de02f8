package system

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/machine/hostfiles"
	"github.com/ariadne-mc/ariadne/internal/system/spec"

	"golang.org/x/sys/unix"
)

// Digests computes the digests of what nodes learn of the host's files: of contents each
// once for as long as the file looks the same.
type Digests struct {
	spec  *spec.Spec
	seen  *hostfiles.Seen // what nodes were first shown
	mu    sync.Mutex
	known map[string]digested
	lists map[ariadne.Digest][]trace.Entry // what directories held that have these digests
}

type digested struct {
	size   int64
	mtime  time.Time
	inode  uint64
	digest ariadne.Digest
}

func newDigests(s *spec.Spec) *Digests {
	return &Digests{spec: s, seen: hostfiles.New(), known: map[string]digested{},
		lists: map[ariadne.Digest][]trace.Entry{}}
}

// errNewer: a name leads to a file that does not show in the listing of its directory,
// because it came later. Nodes would then see a mixture of earlier and present files.
var errNewer = errors.New("the file is newer than the listing of its directory that nodes see")

// Of returns the digest of what nodes learn of a file: of what they were first shown, as far as
// that is known, else of what is there now. That there is none is an error when its content or list
// is asked for, and else an answer.
func (d *Digests) Of(f ariadne.File) (ariadne.Digest, error) {
	first := d.seen.Known(f.Path)
	switch f.Use {
	case ariadne.FileRead, ariadne.FileCode:
		if _, digest, ok := d.seen.Content(f.Path); ok {
			return digest, nil
		}
		if first != nil && first.Stat.Mode&unix.S_IFMT == unix.S_IFREG {
			var st unix.Stat_t
			if host := hostPath(d.spec, f.Path); unix.Stat(host, &st) == nil && !first.Same(&st, "") {
				return ariadne.Digest{}, fmt.Errorf("%s: it has changed since a node opened it", host)
			}
		}
	case ariadne.FileList:
		if entries, ok := d.seen.Listing(f.Path); ok {
			return d.list(shownEntries(entries)), nil
		}
	default:
		if first != nil {
			return firstDigest(first, f.Use), nil
		}
	}
	return d.Now(f)
}

// shownEntries are the entries of a directory, sorted by name.
func shownEntries(list []hostfiles.Entry) (entries []trace.Entry) {
	for _, e := range list {
		if e.Name != "." && e.Name != ".." {
			entries = append(entries, trace.Entry{Name: e.Name, Kind: kindOfEntry(e.Type)})
		}
	}
	slices.SortFunc(entries, func(a, b trace.Entry) int { return cmp.Compare(a.Name, b.Name) })
	return entries
}

// kindOfEntry is what os.ReadDir says of an entry that getdents has with a type.
func kindOfEntry(t uint8) string {
	kind := map[uint8]fs.FileMode{unix.DT_DIR: fs.ModeDir, unix.DT_LNK: fs.ModeSymlink, unix.DT_FIFO: fs.ModeNamedPipe,
		unix.DT_SOCK: fs.ModeSocket,
		unix.DT_CHR:  fs.ModeDevice | fs.ModeCharDevice, unix.DT_BLK: fs.ModeDevice}
	return kind[t].String()
}

// firstDigest is nameDigest of what a name stood for.
func firstDigest(n *hostfiles.Name, use ariadne.FileUse) ariadne.Digest {
	h := sha256.New()
	if st := n.Stat; st.Mode == 0 {
		io.WriteString(h, "nothing")
	} else {
		writeName(h, &st, n.Target, nil, use)
	}
	return ariadne.Digest(h.Sum(nil))
}

// Now is Of for what is there now.
func (d *Digests) Now(f ariadne.File) (ariadne.Digest, error) {
	host := hostPath(d.spec, f.Path)
	switch f.Use {
	case ariadne.FileRead, ariadne.FileCode:
		return d.content(host)
	case ariadne.FileList:
		entries, err := d.entries(f.Path)
		if err != nil {
			return ariadne.Digest{}, err
		}
		return d.list(entries), nil
	}
	if besideSpec(f.Path) && d.spec.Newer(host) {
		return ariadne.Digest{}, errNewer
	}
	return nameDigest(host, f.Use), nil
}

// Leaked are the files that have changed under nodes that may have read them since.
func (d *Digests) Leaked() (paths []string) { return d.seen.Leaked(d.lstat) }

// safe reports whether a change of a file is none to the nodes.
func (d *Digests) safe(f ariadne.File) bool { return d.seen.Safe(f, d.lstat) }

func (d *Digests) lstat(path string) (st unix.Stat_t, err error) {
	err = unix.Lstat(hostPath(d.spec, path), &st)
	return st, err
}

// content is over the bytes of a file.
func (d *Digests) content(host string) (ariadne.Digest, error) {
	st, err := os.Stat(host)
	if err != nil {
		return ariadne.Digest{}, err
	}
	if !st.Mode().IsRegular() {
		return ariadne.Digest{}, fmt.Errorf("%s: not a regular file", host)
	}
	now := digested{size: st.Size(), mtime: st.ModTime()}
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		now.inode = s.Ino
	}
	d.mu.Lock()
	k, ok := d.known[host]
	d.mu.Unlock()
	if ok && k.size == now.size && k.mtime.Equal(now.mtime) && k.inode == now.inode {
		return k.digest, nil
	}
	if now.digest, err = FileDigest(host); err == nil {
		d.mu.Lock()
		d.known[host] = now
		d.mu.Unlock()
	}
	return now.digest, err
}

// nameDigest is over what a name stands for.
func nameDigest(host string, use ariadne.FileUse) ariadne.Digest {
	h := sha256.New()
	var st unix.Stat_t
	switch err := unix.Lstat(host, &st); {
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR):
		io.WriteString(h, "nothing")
	case err != nil:
		fmt.Fprintf(h, "%v", err)
	default:
		target, err := "", error(nil)
		if st.Mode&unix.S_IFMT == unix.S_IFLNK {
			target, err = os.Readlink(host)
		}
		writeName(h, &st, target, err, use)
	}
	return ariadne.Digest(h.Sum(nil))
}

func writeName(h hash.Hash, st *unix.Stat_t, target string, err error, use ariadne.FileUse) {
	kind := st.Mode & unix.S_IFMT
	fmt.Fprintf(h, "%o", kind)
	if kind == unix.S_IFLNK {
		fmt.Fprintf(h, " to %q %v", target, err)
		return
	}
	if use == ariadne.FileKind {
		return
	}
	fmt.Fprintf(h, " %o", st.Mode)
	if euid := os.Geteuid(); euid == 0 {
		fmt.Fprintf(h, " %d %d", st.Uid, st.Gid)
	} else { // nobody else is known inside (internal/machine/sys)
		fmt.Fprintf(h, " %v %v", st.Uid == uint32(euid), st.Gid == uint32(os.Getegid()))
	}
	if use != ariadne.FileStat || kind == unix.S_IFDIR {
		return
	}
	fmt.Fprintf(h, " %d %d %d", st.Size, st.Nlink, st.Rdev)
	if st.Mtim.Nsec == 0 { // only then it is shown
		fmt.Fprintf(h, " %d", st.Mtim.Sec)
	}
}

// Used collects what an execution learns of the host's files, with its digests from when
// it did.
type Used struct {
	digests *Digests
	files   map[ariadne.File]ariadne.Digest
}

func NewUsed(d *Digests) Used { return Used{d, map[ariadne.File]ariadne.Digest{}} }

// Step notes what a step has learnt.
func (u Used) Step(s ariadne.Step) {
	for _, f := range s.Output.Files {
		u.enter(f)
		if f.Use == ariadne.FileName && besideSpec(f.Path) {
			u.enter(ariadne.File{Path: f.Path, Use: ariadne.FileKind})
		}
	}
}

func (u Used) enter(f ariadne.File) {
	if _, ok := u.files[f]; ok {
		return
	}
	// What is gone by now has the digest 0, and is found to have changed.
	u.files[f], _ = u.digests.Of(f)
}

// besideSpec reports whether nodes see a file as one that lies with the spec.
func besideSpec(path string) bool { return path == "/spec" || strings.HasPrefix(path, "/spec/") }

// binds reports whether a trace holds for no other answer: programs that were run, and files beside
// the spec. Other files that programs find, such as the host's caches and tables, would tie a trace
// to one machine. So would modes and owners.
func binds(f ariadne.File) bool {
	switch f.Use {
	case ariadne.FileCode:
		return true
	case ariadne.FileName, ariadne.FileStat:
		return false
	}
	return besideSpec(f.Path)
}

// Binding are those that belong into a trace, and others those beside it.
func (u Used) Binding() []trace.File { return u.those(binds) }
func (u Used) others() []trace.File {
	return u.those(func(f ariadne.File) bool { return !binds(f) })
}

func (u Used) those(which func(ariadne.File) bool) []trace.File {
	var files []trace.File
	for _, f := range slices.SortedFunc(maps.Keys(u.files), func(a, b ariadne.File) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Use, b.Use))
	}) {
		if which(f) {
			files = append(files, trace.File{File: f, Digest: u.files[f]})
		}
	}
	return files
}

// Changed says which files are not as they were, one line for each path.
func (d *Digests) Changed(files []trace.File) (lines []string) {
	last := ""
	for _, f := range files {
		if f.Path == last {
			continue
		}
		now, err := d.Now(f.File)
		if err == nil && now == f.Digest {
			continue
		}
		last = f.Path
		lines = append(lines, d.describe(f.File, err, now, f.Digest))
	}
	return lines
}

// describe says in what way a file is not as it was.
func (d *Digests) describe(f ariadne.File, err error, now, was ariadne.Digest) string {
	_, missing := os.Lstat(hostPath(d.spec, f.Path))
	nothing := nameDigest("", f.Use) // of no name
	switch {
	case errors.Is(missing, fs.ErrNotExist):
		return fmt.Sprintf("file %s is gone", f.Path)
	case errors.Is(err, errNewer):
		return fmt.Sprintf("file %s is new, and a node asks for it by its name", f.Path)
	case err != nil:
		return fmt.Sprintf("file %s cannot be read: %v", f.Path, err)
	case f.Use == ariadne.FileList:
		return fmt.Sprintf("directory %s has other files in it", f.Path) + d.difference(was, now)
	case (f.Use == ariadne.FileName || f.Use == ariadne.FileKind) && was == nothing:
		return fmt.Sprintf("file %s was made since", f.Path)
	case f.Use == ariadne.FileName:
		return fmt.Sprintf("file %s was replaced: its kind, mode, owner or target is another", f.Path)
	case f.Use == ariadne.FileKind:
		return fmt.Sprintf("file %s is of another kind, or a link to elsewhere", f.Path)
	case f.Use == ariadne.FileStat:
		return fmt.Sprintf("file %s has another mode, owner, size, time or number of links", f.Path)
	}
	return fmt.Sprintf("file %s has changed (digest %s, was %s)", f.Path, now, was)
}
