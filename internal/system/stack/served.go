//go:build linux

package stack

import (
	"slices"
	"sync"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
)

// served is a device as a file: a disk, or several that are joined.
type served struct {
	mu    sync.Mutex
	size  int64
	parts []part
	join  Join
	chunk int64
	to    *Recorder
	lies  bool // about flushes
	// requests, when not nil, counts them, and has one fail.
	requests *Requests
	// ends are those of the writes since the last flush, when requests are counted.
	ends map[int64]bool
	// continues says that the request that is done may be a part of an earlier one.
	continues bool
}

// part is a disk of a device that is served.
type part struct {
	disk   *block.Disk
	device int // number in the log
	lies   bool
	// missing says that the disk is not used: it has failed. A Mirror and a RAID5 go on without.
	missing bool
}

// newServed serves parts as the device that a component is. to logs requests, unless it is nil.
func newServed(c *Component, parts []part, to *Recorder) *served {
	d := &served{parts: parts, join: c.Join, chunk: c.Chunk, to: to, lies: c.Lies, size: parts[0].disk.Size()}
	if d.join != "" {
		var sizes []int64
		for _, p := range parts {
			sizes = append(sizes, p.disk.Size())
		}
		d.size = c.JoinedSize(sizes)
	}
	return d
}

// pieces divides a range of the device into ranges of its parts: the number of the part, the offset
// there, the offset within the range, and the length. Of a mirror they are those of the first part.
func (d *served) pieces(offset, length int64, do func(part int, at, from, length int64)) {
	each := int64(len(d.parts)) // chunks of a row
	switch d.join {
	case RAID5:
		each--
	case Stripe:
	default:
		do(0, offset, 0, length)
		return
	}
	for from := int64(0); from < length; {
		chunk, in := (offset+from)/d.chunk, (offset+from)%d.chunk
		n := min(d.chunk-in, length-from)
		at, part := chunk/each*d.chunk+in, int(chunk%each)
		if d.join == RAID5 {
			part = (d.parityOf(at) + 1 + part) % len(d.parts)
		}
		do(part, at, from, n)
		from += n
	}
}

// read fills b with the bytes at an offset, or fails.
func (d *served) read(b []byte, offset int64) (ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ok = true
	d.continues = false
	d.pieces(offset, int64(len(b)), func(part int, at, from, length int64) {
		ok = ok && d.readPart(b[from:from+length], part, at)
	})
	return ok
}

// change does a request, and logs it for each disk that it changes, or fails. It keeps no data of
// the request.
func (d *served) change(o block.Op) (ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.noteEnd(&o)
	o.Length = max(min(o.Length, d.size-o.Offset), 0)
	ok = true
	d.pieces(o.Offset, o.Length, func(part int, at, from, length int64) {
		piece := block.Op{Kind: o.Kind, Offset: at, Length: length}
		if o.Kind == block.Write {
			piece.Data = o.Data[from : from+length]
		}
		if d.to != nil {
			piece.Data = slices.Clone(piece.Data)
		}
		switch d.join {
		case RAID5:
			ok = d.changeRow(piece, part) && ok
		case Mirror:
			ok = d.changeAll(piece) && ok
		default:
			ok = d.changePart(piece, part) && ok
		}
	})
	return ok
}

// noteEnd finds out whether a request may be a part of an earlier one.
func (d *served) noteEnd(o *block.Op) {
	if d.requests == nil {
		return
	}
	if d.ends == nil {
		d.ends = map[int64]bool{}
	}
	d.continues = o.Offset%block.PageSize == 0 && d.ends[o.Offset]
	if !d.away() || d.continues {
		d.ends[o.Offset+o.Length] = true
	}
}

// away reports whether a disk of the device has vanished.
func (d *served) away() bool {
	return slices.ContainsFunc(d.parts, func(p part) bool { return d.requests.vanished(p.device) })
}

// take takes in a request to a part, and returns the fault that happens at it, or "".
func (d *served) take(kind requestKind, part int, offset, length int64) Fault {
	return d.requests.take(request{kind, d.parts[part].device, offset, length, d.continues})
}

// changePart does a request to a part, and logs it, or fails.
func (d *served) changePart(o block.Op, part int) (ok bool) {
	p := &d.parts[part]
	o.Device = p.device
	kind := writes
	if o.Kind == block.Zero {
		kind = zeros
	}
	switch d.take(kind, part, o.Offset, o.Length) {
	case FailWrite, Vanish:
		return false
	case LostWrite:
		return true
	case GarbledWrite:
		o.Data = slices.Clone(o.Data)
		d.requests.garble(o.Data, o.Offset)
	}
	o.Do(p.disk)
	d.to.add(o)
	return true
}

// readDisk fills b with the bytes of the disk of a part, or fails.
func (d *served) readDisk(b []byte, part int, at int64) (ok bool) {
	p := &d.parts[part]
	if p.missing {
		return false
	}
	fault := d.take(reads, part, at, int64(len(b)))
	if fault == FailRead || fault == Vanish {
		return false
	}
	if p.disk.Read(b, at); fault == GarbledRead {
		d.requests.garble(b, at)
	}
	return true
}

// readPart fills b with the bytes of a part, or fails. If the part cannot be read, a Mirror and a
// RAID5 find out the bytes without it, and write them to it, as md does.
func (d *served) readPart(b []byte, part int, at int64) (ok bool) {
	if d.readDisk(b, part, at) {
		return true
	}
	switch d.join {
	case Mirror:
		for n := range d.parts {
			ok = ok || n != part && d.readDisk(b, n, at)
		}
	case RAID5:
		ok = d.reconstruct(b, part, at)
	}
	if ok && !d.parts[part].missing {
		d.changeOr(block.Op{Kind: block.Write, Offset: at, Length: int64(len(b)), Data: slices.Clone(b)}, part)
	}
	return ok
}

// changeAll does a request to all disks of a mirror. It fails if it fails on each of them.
func (d *served) changeAll(o block.Op) (ok bool) {
	var failed []int
	for n := range d.parts {
		if d.parts[n].missing {
			continue
		}
		if d.changePart(o, n) {
			ok = true
		} else {
			failed = append(failed, n)
		}
	}
	for _, n := range failed {
		if ok {
			d.drop(n)
		}
	}
	return ok
}

// changeOr does a request to a part that the others can do without. If it fails, the part is used
// no more.
func (d *served) changeOr(o block.Op, part int) {
	if !d.changePart(o, part) {
		d.drop(part)
	}
}

// drop uses a part no more, also after a loss of power: those that are left remember it.
func (d *served) drop(part int) {
	d.parts[part].missing = true
	d.to.add(block.Op{Kind: block.Drop, Device: d.parts[part].device})
}

// flush makes everything durable that was changed before, or fails.
func (d *served) flush() (ok bool) {
	d.mu.Lock() // requests that have ended are in the log already
	defer d.mu.Unlock()
	d.continues = false
	var failed []int
	done := 0
	for n, p := range d.parts {
		if p.missing || d.lies {
			continue
		}
		switch fault := d.take(flushes, n, 0, 0); {
		case fault == FailFlush, fault == Vanish:
			failed = append(failed, n)
			continue
		case fault != LostFlush && !p.lies:
			d.to.add(block.Op{Kind: block.Flush, Device: p.device})
		}
		done++
	}
	if !d.away() { // a write that a vanished disk has begun is ended
		d.ends = nil
	}
	spare := d.join == Mirror && done > 0 || d.join == RAID5 && done == len(d.parts)-1
	for _, n := range failed {
		if spare {
			d.drop(n)
		}
	}
	return len(failed) == 0 || spare
}
