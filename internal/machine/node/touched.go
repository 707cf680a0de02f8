//go:build linux

package node

import (
	"encoding/binary"
	"fmt"
	"os"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
)

// redZone is how many bytes below its stack pointer a function may use.
const redZone = 128

// registerPages is how many pages there are at the beginning of a process in which Linux puts
// nothing (vm.mmap_min_addr).
const registerPages = 16

// Memory returns the pages of the node's processes that they may write, do not share and have
// touched, in order; nil if there are more than most of them. Bytes below the pointers of stacks
// are left over from calls that have returned, and come as zeros. The registers of the first
// threads come as pages, too.
func (n *Node) Memory(most int) (all []ariadne.MemoryPage, err error) {
	defer recoverTool(n, &err)
	for i, p := range n.processes() {
		th := p.threads[0]
		f, err := os.Open(fmt.Sprintf("/proc/%d/pagemap", th.tr.TID))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		for k, other := range p.threads[:min(len(p.threads), registerPages)] {
			var b []byte
			for _, r := range other.tr.Registers() {
				b = binary.LittleEndian.AppendUint64(b, r)
			}
			all = append(all, ariadne.MemoryPage{Process: i, Address: uint64(k) * pageSize, Data: b})
		}
		for m := range procmaps.All(th.maps()) {
			if m.Shared() || !m.Writable() {
				continue
			}
			touched := make([]byte, (m.End-m.Start)/pageSize*8)
			if _, err := f.ReadAt(touched, int64(m.Start/pageSize*8)); err != nil {
				return nil, err
			}
			live := m.Start
			for _, other := range p.threads {
				if sp := other.tr.SP() - redZone; m.Start <= sp && sp < m.End {
					live = sp
				}
			}
			isThere := func(at uint64) bool {
				return at < m.End && at+pageSize > live &&
					isTouched(binary.LittleEndian.Uint64(touched[(at-m.Start)/pageSize*8:]))
			}
			for at := m.Start; at < m.End; at += pageSize {
				end := at
				for isThere(end) {
					end += pageSize
				}
				if end == at {
					continue
				}
				b := make([]byte, end-at)
				if e := th.tr.Peek(at, b); e != 0 {
					at = end
					continue // what the host maps, and nobody may read
				}
				if at < live {
					clear(b[:live-at])
				}
				for ; len(b) > 0; at, b = at+pageSize, b[pageSize:] {
					if len(all) == most {
						return nil, nil
					}
					all = append(all, ariadne.MemoryPage{Process: i, Address: at, Data: b[:pageSize:pageSize]})
				}
			}
		}
	}
	return all, nil
}

// isTouched reports whether a process has touched a page, by its entry in /proc/PID/pagemap. A page
// that is followed and that nobody has touched looks like one that was swapped out. To read such
// pages costs a fault each, and on some machines memory.
func isTouched(entry uint64) bool {
	return entry&pagePresent != 0 || entry&pageSwapped != 0 && (entry&pageProtected == 0 || hasSwap())
}
