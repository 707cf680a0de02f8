//go:build linux

package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The layout, in bytes. The superblock names one of two places of a checkpoint, and the first
// transaction of the journal that is not in it.
const (
	sector      = 512
	superSize   = 2 * page // the second half is of a bug
	page        = 4096
	slotStart   = 1 << 20
	slotSize    = 1 << 20
	journal     = slotStart + 2*slotSize
	journalSize = 1 << 20
	deviceSize  = journal + journalSize
)

// Numbers with which sectors begin.
const (
	superMagic  = 0x73706572
	slotMagic   = 0x736c6f74
	headMagic   = 0x68656164
	commitMagic = 0x636f6d6d
)

// device is a disk. Writes are submitted at once, and durable after a flush.
type device struct {
	f   *os.File
	bug string
	// from the superblock
	slot  uint64 // of the checkpoint: 0 or 1
	first uint64 // transaction that is not in it
	// the journal
	next uint64 // transaction
	at   int64  // offset in it
}

func open(name, bug string) (*device, error) {
	f, err := os.OpenFile(name, os.O_RDWR|unix.O_DIRECT, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, err
	}
	return &device{f: f, bug: bug, first: 1, next: 1}, nil
}

func (d *device) flush() error { return d.f.Sync() }

// aligned is a buffer for O_DIRECT, of whole sectors.
func aligned(n int) []byte {
	n = (n + sector - 1) / sector * sector
	b := make([]byte, n+page)
	skip := page - int(uintptr(unsafe.Pointer(&b[0]))%page)
	return b[skip : skip+n]
}

func (d *device) write(data []byte, at int64) error {
	b := aligned(len(data))
	copy(b, data)
	_, err := d.f.WriteAt(b, at)
	if d.bug == "ignored-error" {
		return nil
	}
	return err
}

func (d *device) read(n int, at int64) ([]byte, error) {
	b := aligned(n)
	_, err := d.f.ReadAt(b, at)
	return b[:n], err
}

// numbers is a sector that has numbers, and a checksum of them.
func numbers(all ...uint64) []byte {
	var b []byte
	for _, n := range all {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// readNumbers reads numbers, unless their checksum is wrong.
func (d *device) readNumbers(n int, at int64) ([]uint64, error) {
	b, err := d.read(sector, at)
	if err != nil {
		return nil, err
	}
	all := make([]uint64, n)
	for i := range all {
		all[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	if sum := sha256.Sum256(b[:8*n]); [32]byte(b[8*n:]) != sum {
		return nil, errChecksum
	}
	return all, nil
}

var errChecksum = errors.New("the checksum is wrong")

// writeSuper writes the superblock: one sector, which is written wholly or not at all.
func (d *device) writeSuper() error {
	if d.bug == "torn-superblock" {
		b := make([]byte, superSize)
		copy(b, numbers(superMagic, d.slot))
		copy(b[page:], numbers(superMagic, d.first))
		return d.write(b, 0)
	}
	return d.write(numbers(superMagic, d.slot, d.first), 0)
}

func (d *device) readSuper() error {
	if d.bug == "torn-superblock" {
		slot, err := d.readNumbers(2, 0)
		first, err2 := d.readNumbers(2, page)
		if err := errors.Join(err, err2); err != nil {
			return fmt.Errorf("superblock: %w", err)
		}
		d.slot, d.first = slot[1], first[1]
		return nil
	}
	all, err := d.readNumbers(3, 0)
	if err != nil {
		return fmt.Errorf("superblock: %w", err)
	}
	d.slot, d.first = all[1], all[2]
	return nil
}

// checkpoint writes the whole state to the other slot, and then the superblock that names it.
func (d *device) checkpoint(s *state) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if sector+len(b) > slotSize {
		return unix.ENOSPC
	}
	if d.bug != "twice" {
		d.slot = 1 - d.slot
	}
	sum := sha256.Sum256(b)
	head := numbers(slotMagic, uint64(len(b)), binary.LittleEndian.Uint64(sum[:]))
	head = append(head, make([]byte, sector-len(head))...)
	if err := errors.Join(d.write(append(head, b...), d.slotAt()), d.flush()); err != nil {
		return err
	}
	d.first = d.next
	d.at = 0
	return errors.Join(d.writeSuper(), d.flush())
}

func (d *device) slotAt() int64 { return slotStart + int64(d.slot)*slotSize }

// load reads the state of the last checkpoint.
func (d *device) load() (*state, error) {
	head, err := d.readNumbers(3, d.slotAt())
	if err != nil || head[0] != slotMagic || head[1] > slotSize-sector {
		return nil, fmt.Errorf("checkpoint: %w", errors.Join(err, errChecksum))
	}
	b, err := d.read(int(head[1]), d.slotAt()+sector)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(b); binary.LittleEndian.Uint64(sum[:]) != head[2] {
		return nil, fmt.Errorf("checkpoint: %w", errChecksum)
	}
	s := new(state)
	return s, json.Unmarshal(b, s)
}

// commit writes changes to the journal, as a transaction.
func (d *device) commit(changes []change) error {
	b, err := json.Marshal(changes)
	if err != nil {
		return err
	}
	size := int64(len(b)+sector-1)/sector*sector + 2*sector
	if d.at+size > journalSize {
		return unix.ENOSPC
	}
	at := journal + d.at
	sum := sha256.Sum256(b)
	if d.bug == "missing-flush" || d.bug == "reordered-commit" {
		sum = [32]byte{} // a checksum would find the bug out
	}
	content := func() error {
		return errors.Join(d.write(numbers(headMagic, d.next, uint64(len(b)), binary.LittleEndian.Uint64(sum[:])), at),
			d.write(b, at+sector))
	}
	commit := func() error { return d.write(numbers(commitMagic, d.next), at+size-sector) }
	order := []func() error{content, d.flush, commit, d.flush}
	switch d.bug {
	case "missing-flush":
		order = []func() error{content, commit, d.flush}
	case "reordered-commit":
		order = []func() error{commit, d.flush, content, d.flush}
	}
	for _, do := range order {
		if err := do(); err != nil {
			return err
		}
	}
	d.next++
	d.at += size
	return nil
}

// replay applies the transactions of the journal that were committed and are not in the state.
func (d *device) replay(s *state) error {
	d.next, d.at = d.first, 0
	for d.at < journalSize-2*sector {
		at := journal + d.at
		head, err := d.readNumbers(4, at)
		if err != nil || head[0] != headMagic || head[1] != d.next || head[2] > journalSize {
			return nil
		}
		size := int64(head[2]+sector-1)/sector*sector + 2*sector
		end, err := d.readNumbers(2, at+size-sector)
		if err != nil || end[0] != commitMagic || end[1] != d.next {
			return nil
		}
		b, err := d.read(int(head[2]), at+sector)
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(b); head[3] != 0 && binary.LittleEndian.Uint64(sum[:]) != head[3] {
			return nil
		}
		var changes []change
		if err := json.Unmarshal(b, &changes); err != nil {
			return fmt.Errorf("transaction %d: %w", d.next, err)
		}
		for _, c := range changes {
			s.apply(c)
		}
		d.next++
		d.at += size
	}
	return nil
}

// mkfs makes an empty file system.
func mkfs(name, bug string) error {
	d, err := open(name, bug)
	if err != nil {
		return err
	}
	defer d.f.Close()
	if err := d.write(make([]byte, sector), journal); err != nil {
		return err
	}
	return d.checkpoint(newState())
}

// mountDevice reads the file system of a device, and recovers.
func mountDevice(name, bug string) (*device, *state, error) {
	d, err := open(name, bug)
	if err != nil {
		return nil, nil, err
	}
	if err := d.readSuper(); err != nil {
		return nil, nil, err
	}
	s, err := d.load()
	if err != nil {
		return nil, nil, err
	}
	if err := d.replay(s); err != nil {
		return nil, nil, err
	}
	return d, s, d.checkpoint(s)
}
