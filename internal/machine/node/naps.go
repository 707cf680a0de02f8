//go:build linux

package node

import (
	"bytes"
	"debug/elf"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// naps reports whether the call at whose entry th stands is a nap of a thread of Go's runtime, such
// as sysmon. On the end of the same call of another program something may depend: programs that
// are linked with musl make it for each sleep. A process's first thread is never sysmon.
func (n *Node) naps(th *thread) bool {
	k := th.k
	if k.Call.NR != unix.SYS_NANOSLEEP || k.TID == k.Proc.PID {
		return false
	}
	site := &k.Proc.NapSite
	if at := th.tr.IP(); site.At != at {
		*site = kernel.NapSite{At: at, Naps: napsAt(th, at)}
	}
	return site.Naps
}

// napCode is how Go's runtime (runtime.usleep) enters nanosleep: mov $35, %eax; syscall. C
// libraries have the number in another register before.
var napCode = []byte{0xb8, unix.SYS_NANOSLEEP, 0, 0, 0, 0x0f, 0x05}

// napsAt reports whether a call that returns to an address is made by Go's runtime.
func napsAt(th *thread, at uint64) bool {
	code := make([]byte, len(napCode))
	if th.tr.ReadMem(at-uint64(len(code)), code) != 0 || !bytes.Equal(code, napCode) {
		return false
	}
	all := codeIn(th.maps())
	i := slices.IndexFunc(all, func(r codeRange) bool { return r.start < at && at <= r.end })
	return i >= 0 && goPrograms.of(th, all[i].file)
}

// goPrograms are the programs and libraries that have Go's runtime. Its table of functions stays
// in them when they are stripped.
var goPrograms = programs[bool]{find: func(f *elf.File) bool {
	return slices.ContainsFunc(f.Sections, func(s *elf.Section) bool { return strings.HasSuffix(s.Name, ".gopclntab") })
}}
