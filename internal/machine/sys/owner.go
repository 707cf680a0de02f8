package sys

import (
	"os"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// Who owns a file in the eyes of the node, and struct stat.

func keyOf(st *unix.Stat_t) inode.Key { return inode.Key{Dev: st.Dev, Ino: st.Ino} }

// asRoot: Ariadne's own user sees all ids as they are.
var asRoot = os.Geteuid() == 0

// Owner returns who owns a file in the node's eyes that really belongs to uid and gid.
func Owner(files *inode.Table, key inode.Key, uid, gid uint32) (u, g uint32) {
	return owner(files, key, &unix.Stat_t{Uid: uid, Gid: gid}, false)
}

// owner returns who owns a file in the node's eyes. A file of an owner that the node does not know
// belongs to root.
func owner(files *inode.Table, key inode.Key, st *unix.Stat_t, inside bool) (uid, gid uint32) {
	if u, g, ok := files.Owner(key); ok {
		return uint32(u), uint32(g)
	}
	return realOwner(files, st, inside)
}

// realOwner is owner without what the node has changed.
func realOwner(files *inode.Table, st *unix.Stat_t, inside bool) (uid, gid uint32) {
	if asRoot {
		return st.Uid, st.Gid
	}
	own, group := uint32(os.Geteuid()), uint32(os.Getegid())
	if inside {
		own, group = uint32(files.User), uint32(files.Group)
	}
	if st.Uid == own {
		uid = uint32(files.User)
	}
	if st.Gid == group {
		gid = uint32(files.Group)
	}
	return uid, gid
}

// withoutSetID is what is left of a mode when somebody writes to the file who may not keep
// its set-id bits. Without execution by the group the bit means something else.
func withoutSetID(mode uint32) uint32 {
	if mode&unix.S_IXGRP != 0 {
		mode &^= unix.S_ISGID
	}
	return mode &^ unix.S_ISUID
}

// statSize is the size of struct stat.
const statSize = 144

// statBuffer is struct stat of x86-64 for st.
func statBuffer(st *unix.Stat_t) []byte {
	b := make([]byte, statSize)
	le.PutUint64(b, st.Dev)
	le.PutUint64(b[8:], st.Ino)
	le.PutUint64(b[16:], st.Nlink)
	le.PutUint32(b[24:], st.Mode)
	le.PutUint32(b[28:], st.Uid)
	le.PutUint32(b[32:], st.Gid)
	le.PutUint64(b[40:], st.Rdev)
	le.PutUint64(b[48:], uint64(st.Size))
	le.PutUint64(b[56:], uint64(st.Blksize))
	le.PutUint64(b[64:], uint64(st.Blocks))
	for i, ts := range []unix.Timespec{st.Atim, st.Mtim, st.Ctim} {
		le.PutUint64(b[72+16*i:], uint64(ts.Sec))
		le.PutUint64(b[80+16*i:], uint64(ts.Nsec))
	}
	return b
}

// parseStat is the inverse of statBuffer.
func parseStat(b []byte) (st unix.Stat_t) {
	st.Dev, st.Ino, st.Nlink = le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:])
	st.Mode, st.Uid, st.Gid = le.Uint32(b[24:]), le.Uint32(b[28:]), le.Uint32(b[32:])
	st.Rdev, st.Size = le.Uint64(b[40:]), int64(le.Uint64(b[48:]))
	st.Blksize, st.Blocks = int64(le.Uint64(b[56:])), int64(le.Uint64(b[64:]))
	for i, ts := range []*unix.Timespec{&st.Atim, &st.Mtim, &st.Ctim} {
		*ts = unix.Timespec{Sec: int64(le.Uint64(b[72+16*i:])), Nsec: int64(le.Uint64(b[80+16*i:]))}
	}
	return st
}

func fileTime(ns int64) unix.Timespec { return unix.Timespec{Sec: ns / 1e9, Nsec: ns % 1e9} }
