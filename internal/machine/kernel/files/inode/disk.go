package inode

// DefaultDisk is how much the node's own files may hold when its spec does not say.
const DefaultDisk = 2 << 30

// Disk says how much room the node's own files take. All lie in memory. Linux's allocations depend
// on the checkpoints that were made. The count here depends on the node's own calls alone: the
// bytes that were written or reserved for each file, however often. When that comes to the limit,
// files that are gone are taken off, and of the others what they are too small to hold (Settle).
type Disk struct {
	Limit int64
	Given bool // by the spec: the node is meant to see its end
	Full  bool // somebody else has taken the rest (Fill)

	used int64
	file map[Key]diskUse
}

type diskUse struct {
	written int64 // bytes
	kept    int64 // reserved up to here, also beyond the end
}

const diskBlock = 4096

func (u diskUse) room() int64 { return Room(u.written) }

// Room is the room that a file of so many bytes takes.
func Room(size int64) int64 { return (size + diskBlock - 1) / diskBlock * diskBlock }

// Left is how much there is room for.
func (d *Disk) Left() int64 { return max(d.Limit-d.used, 0) }

// Fill leaves no more room than what is given up from now on.
func (d *Disk) Fill() { d.Limit, d.Full = min(d.Limit, d.used), true }

// Used is what the files take, or less.
func (d *Disk) Used() int64 { return d.used }

// Fits reports whether n bytes more of a file certainly fit.
func (d *Disk) Fits(n int64) bool { return n+diskBlock <= d.Left() }

// Write enters that n bytes of a file are written.
func (d *Disk) Write(key Key, n int64) {
	u := d.file[key]
	d.set(key, diskUse{u.written + n, u.kept})
}

// Missing is how much a file lacks to hold all of its first size bytes.
func (d *Disk) Missing(key Key, size int64) int64 {
	return max(diskUse{written: size}.room()-d.file[key].room(), 0)
}

// Keep enters that a file holds its first size bytes, or also those beyond its end.
func (d *Disk) Keep(key Key, size int64, beyond bool) {
	u := d.file[key]
	u.written = max(u.written, size)
	if beyond {
		u.kept = max(u.kept, size)
	}
	d.set(key, u)
}

func (d *Disk) set(key Key, u diskUse) {
	if d.file == nil {
		d.file = map[Key]diskUse{}
	}
	d.used += u.room() - d.file[key].room()
	d.file[key] = u
}

// Holds enters that a file holds its first size bytes, and no more was ever written to it.
func (d *Disk) Holds(key Key, size int64) {
	d.set(key, diskUse{size, size})
}

// Settle takes off what files cannot hold. size says how large a file is, or that it
// is gone.
func (d *Disk) Settle(size func(Key) (int64, bool)) {
	for key, u := range d.file {
		switch n, ok := size(key); {
		case !ok:
			d.used -= u.room()
			delete(d.file, key)
		case u.written > max(n, u.kept):
			d.set(key, diskUse{max(n, u.kept), u.kept})
		}
	}
}
