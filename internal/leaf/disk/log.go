package disk

import "slices"

// Log is the operations on a node's files, in order. It does not change: appending to it
// makes another one, which shares what was there. A nil Log is an empty one.
type Log struct {
	Op
	prev *Log
	n    int // operations, with this one
	held int64
	// open is the last operation known not to be durable by every model, or nil when all are
	// and the window is empty.
	open *Log
	// start is the last operation with which everything was durable, or nil.
	start *Log
}

// Append returns the log with one more operation. It keeps op's bytes.
func (l *Log) Append(op Op) *Log {
	next := &Log{Op: op, prev: l, n: 1}
	if l != nil {
		next.n, next.open, next.start = l.n+1, l.open, l.start
	}
	next.held = l.Held() + opSize + int64(len(op.New)+len(op.Old)+len(op.Path)+len(op.ToPath))
	switch {
	case op.Kind.syncs():
		if next.open != nil && (op.Begun > 0 || op.covers(&next.open.Op)) {
			next.open = next.unsynced()
		}
		if next.open == nil {
			next.start = next
		}
	case next.open == nil && op.changes():
		next.open = next
	}
	return next
}

// Len is how many operations there are, in all.
func (l *Log) Len() int {
	if l == nil {
		return 0
	}
	return l.n
}

// opSize is about how much memory an operation takes without its bytes.
const opSize = 512

// Held is about how much memory the log takes, in bytes.
func (l *Log) Held() int64 {
	if l == nil {
		return 0
	}
	return l.held
}

// Durable reports whether no operation can be lost, by whatever model.
func (l *Log) Durable() bool { return l == nil || l.open == nil }

// Ops returns all operations.
func (l *Log) Ops() []*Op {
	ops := make([]*Op, 0, l.Len())
	for e := l; e != nil; e = e.prev {
		ops = append(ops, &e.Op)
	}
	slices.Reverse(ops)
	return ops
}

// Since returns the operations behind those of an earlier log that this one was made of.
func (l *Log) Since(earlier *Log) (ops []*Op) {
	for e := l; e.Len() > earlier.Len(); e = e.prev {
		ops = append(ops, &e.Op)
	}
	slices.Reverse(ops)
	return ops
}

// unsynced returns the last operation of the window that some model may lose, or nil.
func (l *Log) unsynced() *Log {
	var syncs, ended []*Op
	for e := l; e != nil && e.start != e; e = e.prev {
		switch {
		case e.Kind.syncs() && e.Begun > 0:
			ended = append(ended, &e.Op)
		case e.Kind.syncs():
			syncs = append(syncs, &e.Op)
		case e.Kind == Submit:
			if i := slices.IndexFunc(ended, func(o *Op) bool { return o.Begun == e.Begun }); i >= 0 {
				syncs = append(syncs, ended[i])
			}
		case e.changes() && !slices.ContainsFunc(syncs, func(s *Op) bool { return s.covers(&e.Op) }):
			return e
		}
	}
	return nil
}

// changes reports whether the operation changes anything that a power loss can take back.
func (o *Op) changes() bool { return o.Kind < Fsync }

// covers reports whether a sync makes an earlier operation durable by every model, which is
// by the weakest one (Any).
func (o *Op) covers(earlier *Op) bool {
	if o.Kind == Sync {
		return true
	}
	switch e := earlier; e.Kind {
	case Create, Link, Unlink:
		return o.Ino == e.Dir || e.Dir == 0 // what never had a name is gone anyway
	case Rename:
		return o.Ino == e.Dir || o.Ino == e.ToDir
	case SetAttr, SetXattr:
		return o.Ino == e.Ino && o.Kind == Fsync
	default:
		return o.Ino == e.Ino &&
			(o.Flags&Ranged == 0 || e.end() > e.Offset && e.Size == e.OldSize && o.Offset <= e.Offset &&
				(o.Length == 0 || e.end() <= o.Offset+o.Length))
	}
}
