package kernel

import "golang.org/x/sys/unix"

// RandomFile is /dev/random and /dev/urandom.
type RandomFile struct{ Minor int }

func (*RandomFile) Ready() Events    { return In | Out | RdNorm | WrNorm }
func (*RandomFile) Changed() *Queue  { return nil }
func (*RandomFile) Release(*Node)    {}
func (*RandomFile) StatMode() uint32 { return unix.S_IFCHR | 0o666 }
func (f *RandomFile) Key() FileKey   { return EmulatedKey(DevHost, uint64(f.Minor)) }
func (f *RandomFile) Describe() string {
	return map[int]string{8: "/dev/random", 9: "/dev/urandom"}[f.Minor]
}

// Read implements Reader.
func (*RandomFile) Read(t *Thread, b []byte) (int, Errno) {
	t.Node().Rand.Fill(b)
	return len(b), 0
}

// Write implements Writer: what is written is mixed in, which cannot be told
// from not mixing it in.
func (*RandomFile) Write(t *Thread, b []byte) (int, Errno) { return len(b), 0 }
