package kernel

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// writeInt stores a C int in the caller's memory.
func writeInt(t *Thread, addr uint64, v int) Errno {
	return t.M.WriteMem(addr, binary.LittleEndian.AppendUint32(nil, uint32(v)))
}

// Ioctl answers the ioctls that every socket has: questions about interfaces.
func (s *Sock) Ioctl(t *Thread, cmd, arg uint64) (int64, Errno) {
	return 0, unix.ENOTTY
}
