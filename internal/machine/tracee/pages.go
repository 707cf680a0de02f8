//go:build linux

package tracee

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Which pages of a process are written can be known without stopping it: userfaultfd protects them
// in its asynchronous mode, in which Linux takes the protection from a page that is written and
// tells nobody, and the ioctl PAGEMAP_SCAN lists the pages that have none and protects them again.
// Both are in Linux 6.7 and later.

// PageSize is the size of a page, in bytes.
const PageSize = 4096

// A Range is a part of a process's memory, from its first byte up to one that does not belong to
// it.
type Range struct{ Start, End uint64 }

// Pages knows which pages of a process were written since it was asked last. It holds three
// descriptors.
type Pages struct {
	uffd    int
	pagemap *os.File
	statm   *os.File
	pid     int
	buffer  [256]pageRegion
	text    [128]byte
}

// ErrNoPages is the cause of errors of FollowPages where Linux cannot do it, or does not let us.
var ErrNoPages = errors.New("written pages cannot be followed")

// FollowPages follows the pages of the process of t, which stands in a call. Nothing is followed
// before Add.
func (t *Thread) FollowPages() (*Pages, error) {
	fd, err := t.Inject(unix.SYS_USERFAULTFD, uffdFlags)
	if err != nil {
		return nil, err
	}
	switch e := unix.Errno(-fd); {
	case fd >= 0:
	case e == unix.EMFILE || e == unix.ENFILE || e == unix.ENOMEM: // here and now
		return nil, fmt.Errorf("tracee %d: userfaultfd: %w", t.TID, e)
	default:
		return nil, fmt.Errorf("%w: userfaultfd: %w", ErrNoPages, e)
	}
	ours, err := t.HostFD(int(fd))
	if v, e := t.Inject(unix.SYS_CLOSE, uint64(fd)); e != nil || v != 0 {
		if err == nil {
			unix.Close(ours)
		}
		return nil, fmt.Errorf("tracee %d: close a descriptor of ours: %w", t.TID, errors.Join(e, unix.Errno(-v)))
	}
	if err != nil {
		return nil, fmt.Errorf("tracee %d: userfaultfd: %w", t.TID, err)
	}
	return newPages(ours, t.PID)
}

// newPages takes over a userfaultfd of a process.
func newPages(uffd, pid int) (p *Pages, err error) {
	p = &Pages{uffd: uffd, pid: pid}
	api := uffdAPI{api: 0xaa, features: uffdFeatureWPAsync}
	if e := ioctl(p.uffd, uffdioAPI, unsafe.Pointer(&api)); e != 0 {
		p.Close()
		return nil, fmt.Errorf("%w: userfaultfd in asynchronous mode: %w", ErrNoPages, e)
	}
	for name, f := range map[string]**os.File{"pagemap": &p.pagemap, "statm": &p.statm} {
		if *f, err = os.Open(fmt.Sprintf("/proc/%d/%s", pid, name)); err != nil {
			p.Close()
			return nil, fmt.Errorf("%w: %w", ErrNoPages, err)
		}
	}
	return p, nil
}

// CanFollowPages returns why the written pages of a process cannot be followed on this machine, or
// nil.
func CanFollowPages() error {
	fd, _, e := unix.Syscall(unix.SYS_USERFAULTFD, uffdFlags, 0, 0)
	if e != 0 {
		return fmt.Errorf("userfaultfd: %w", e)
	}
	p, err := newPages(int(fd), os.Getpid())
	if err != nil {
		return err
	}
	defer p.Close()
	b, err := unix.Mmap(-1, 0, PageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	defer unix.Munmap(b)
	at := uint64(uintptr(unsafe.Pointer(&b[0])))
	r := Range{at, at + PageSize}
	if err := p.Add(r); err != nil {
		return err
	}
	return p.Written(r, nil)
}

// Add has the pages of a mapping followed, all of which count as written. A mapping that is already
// followed may be added again.
func (p *Pages) Add(r Range) error {
	reg := uffdRegister{start: r.Start, length: r.End - r.Start, mode: uffdRegisterModeWP}
	if e := ioctl(p.uffd, uffdioRegister, unsafe.Pointer(&reg)); e != 0 {
		return fmt.Errorf("process %d: follow pages from %#x to %#x: %w", p.pid, r.Start, r.End, e)
	}
	return nil
}

// Written calls f with the ranges of pages that were written, in ascending order, of a range since
// it was last asked for; f may be nil. A page that the process has given back (madvise) is not
// among them.
func (p *Pages) Written(in Range, f func(Range)) error {
	a := scanArg{size: uint64(unsafe.Sizeof(scanArg{})), flags: scanProtect | scanCheck, start: in.Start, end: in.End,
		vec: uint64(uintptr(unsafe.Pointer(&p.buffer[0]))), vecLen: uint64(len(p.buffer)),
		mask: pageIsWritten, returned: pageIsWritten}
	for {
		n, _, e := unix.RawSyscall(unix.SYS_IOCTL, p.pagemap.Fd(), pagemapScan, uintptr(unsafe.Pointer(&a)))
		if e != 0 {
			return fmt.Errorf("process %d: which pages are written: %w", p.pid, e)
		}
		if f != nil {
			for _, r := range p.buffer[:n] {
				f(Range{r.start, r.end})
			}
		}
		if a.walkEnd >= in.End || int(n) < len(p.buffer) {
			return nil
		}
		a.start = a.walkEnd
	}
}

// Size returns the size of all mappings of the process together, in pages. It shows that a stack
// has grown, which takes no system call.
func (p *Pages) Size() (pages int64, err error) {
	b := p.text[:]
	n, err := p.statm.ReadAt(b, 0)
	if n == 0 {
		return 0, fmt.Errorf("process %d: size of its mappings: %w", p.pid, err)
	}
	first, _, _ := bytes.Cut(b[:n], []byte(" "))
	return strconv.ParseInt(string(first), 10, 64)
}

// PID is the real id of the process.
func (p *Pages) PID() int { return p.pid }

// Close ends it. The process goes on unprotected.
func (p *Pages) Close() {
	unix.Close(p.uffd)
	for _, f := range []*os.File{p.pagemap, p.statm} {
		if f != nil {
			f.Close()
		}
	}
}

func ioctl(fd int, req uintptr, arg unsafe.Pointer) unix.Errno {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), req, uintptr(arg))
	return e
}

// From include/uapi/linux/userfaultfd.h and fs.h.
const (
	// uffdFlags has UFFD_USER_MODE_ONLY: with it, any user may have a userfaultfd.
	uffdFlags = unix.O_CLOEXEC | unix.O_NONBLOCK | 1

	uffdioAPI          = 0xc018aa3f
	uffdioRegister     = 0xc020aa00
	uffdFeatureWPAsync = 1 << 15
	uffdRegisterModeWP = 1 << 1

	pagemapScan   = 0xc0606610
	scanProtect   = 1 << 0 // PM_SCAN_WP_MATCHING
	scanCheck     = 1 << 1 // PM_SCAN_CHECK_WPASYNC
	pageIsWritten = 1 << 1
)

type uffdAPI struct{ api, features, ioctls uint64 }

type uffdRegister struct{ start, length, mode, ioctls uint64 }

type pageRegion struct{ start, end, categories uint64 }

type scanArg struct {
	size, flags, start, end, walkEnd, vec, vecLen, maxPages uint64
	inverted, mask, anyOf, returned                         uint64
}

// most is how many pages one call reads or writes (UIO_MAXIOV).
const most = 1024

// ReadPages fills each page of a list from the process's memory at its address. EFAULT: one is not
// there.
func (t *Thread) ReadPages(at []uint64, to []*[PageSize]byte) unix.Errno {
	return t.pagesIO(unix.SYS_PROCESS_VM_READV, at, to)
}

// WritePages stores each page of a list at its address. EFAULT: one is not there, or the process
// may not write to it.
func (t *Thread) WritePages(at []uint64, from []*[PageSize]byte) unix.Errno {
	return t.pagesIO(unix.SYS_PROCESS_VM_WRITEV, at, from)
}

func (t *Thread) pagesIO(nr uintptr, at []uint64, pages []*[PageSize]byte) unix.Errno {
	local, remote := make([]unix.Iovec, 0, min(len(at), most)), make([][2]uint64, 0, min(len(at), most))
	for len(at) > 0 {
		n := min(len(at), most)
		local, remote = local[:0], remote[:0]
		for i := range n {
			local = append(local, unix.Iovec{Base: &pages[i][0], Len: PageSize})
			if k := len(remote) - 1; k >= 0 && remote[k][0]+remote[k][1] == at[i] {
				remote[k][1] += PageSize
				continue
			}
			remote = append(remote, [2]uint64{at[i], PageSize})
		}
		done, _, e := unix.RawSyscall6(nr, uintptr(t.PID), uintptr(unsafe.Pointer(&local[0])), uintptr(n),
			uintptr(unsafe.Pointer(&remote[0])), uintptr(len(remote)), 0)
		if e != 0 {
			return e
		}
		if int(done) != n*PageSize {
			return unix.EFAULT
		}
		at, pages = at[n:], pages[n:]
	}
	return 0
}
