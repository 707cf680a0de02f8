package fsmodel

import (
	"slices"
	"strings"
)

// Setup are calls that make the files with which workloads begin: two directories and two files. If
// the workloads have calls on attributes, one file has an attribute.
func Setup(also ...Kind) []Call {
	calls := []Call{
		{Kind: Mkdir, Path: "A"}, {Kind: Mkdir, Path: "B"},
		{Kind: Creat, Path: "A/foo"}, {Kind: Write, Path: "A/foo", Length: 6000, Byte: 'a'},
		{Kind: Creat, Path: "B/bar"}, {Kind: Write, Path: "B/bar", Length: 100, Byte: 'b'},
	}
	if slices.Contains(also, Setxattr) || slices.Contains(also, Removexattr) {
		calls = append(calls, Call{Kind: Setxattr, Path: "A/foo", Text: "user.a", Length: 10, Byte: 'a'})
	}
	return calls
}

// Start is the tree that Setup makes.
func Start(also ...Kind) *Tree {
	t := NewTree()
	for _, c := range Setup(also...) {
		t, _ = t.Do(c)
	}
	return t
}

// operations are the calls of which workloads are made. Some fail in some places: a call that fails
// must have no effect.
var operations = []Call{
	{Kind: Creat, Path: "A/new"},
	{Kind: Creat, Path: "B/foo"},
	{Kind: Mkdir, Path: "C"},
	{Kind: Mkdir, Path: "A/D"},
	{Kind: Link, Path: "A/foo", To: "A/new"},
	{Kind: Link, Path: "A/foo", To: "B/bar"},
	{Kind: Link, Path: "A/foo", To: "B/foo"},
	{Kind: Unlink, Path: "A/foo"},
	{Kind: Unlink, Path: "B/bar"},
	{Kind: Rmdir, Path: "B"},
	{Kind: Rename, Path: "A/foo", To: "A/new"},
	{Kind: Rename, Path: "A/foo", To: "B/bar"},
	{Kind: Rename, Path: "B/bar", To: "A/foo"},
	{Kind: Rename, Path: "B", To: "A/D"},
	{Kind: Rename, Path: "A", To: "B"},
	{Kind: Write, Path: "A/foo", Offset: 1000, Length: 2000, Byte: 'c'},
	{Kind: Write, Path: "A/foo", Offset: 5000, Length: 5000, Byte: 'd'},
	{Kind: Write, Path: "B/bar", Offset: 100, Length: 4096, Byte: 'e'},
	{Kind: Write, Path: "B/bar", Offset: 100000, Length: 10, Byte: 'f'},
	{Kind: SyncWrite, Path: "A/foo", Offset: 0, Length: 100, Byte: 'g'},
	{Kind: SyncWrite, Path: "B/bar", Offset: 50, Length: 5000, Byte: 'h'},
	{Kind: Truncate, Path: "A/foo", Length: 0},
	{Kind: Truncate, Path: "A/foo", Length: 3000},
	{Kind: Truncate, Path: "B/bar", Length: 9000},
}

// further are operations that workloads have besides where they are asked for.
var further = []Call{
	{Kind: Symlink, Path: "A/new", Text: "foo"},
	{Kind: Symlink, Path: "B/foo", Text: "../A/foo"},
	{Kind: Symlink, Path: "B/bar", Text: "foo"},
	{Kind: Fallocate, Path: "A/foo", Offset: 1000, Length: 2000},
	{Kind: Fallocate, Path: "A/foo", Offset: 6000, Length: 4000},
	{Kind: Fallocate, Path: "B/bar", Offset: 50000, Length: 5000},
	{Kind: PunchHole, Path: "A/foo", Offset: 0, Length: 4096},
	{Kind: PunchHole, Path: "A/foo", Offset: 1000, Length: 9000},
	{Kind: PunchHole, Path: "B/bar", Offset: 0, Length: 50},
	{Kind: Setxattr, Path: "A/foo", Text: "user.a", Length: 20, Byte: 'i'},
	{Kind: Setxattr, Path: "A/foo", Text: "user.b", Length: 10, Byte: 'j'},
	{Kind: Setxattr, Path: "B/bar", Text: "user.a", Length: 500, Byte: 'k'},
	{Kind: Setxattr, Path: "A", Text: "user.a", Length: 10, Byte: 'l'},
	{Kind: Removexattr, Path: "A/foo", Text: "user.a"},
	{Kind: Removexattr, Path: "B/bar", Text: "user.a"},
}

// Also are the kinds of calls that workloads have only where they are asked for.
func Also() (kinds []Kind) {
	for _, c := range further {
		kinds = append(kinds, c.Kind)
	}
	return append(slices.Compact(kinds), WriteBack)
}

// dirties reports whether a call leaves pages of its file that are not on their way to the device.
func dirties(c Call) bool { return slices.Contains([]Kind{Write, Truncate, PunchHole}, c.Kind) }

// operationsWith are the operations of workloads that have some kinds of further ones, too.
func operationsWith(also []Kind) []Call {
	all := slices.Clone(operations)
	for _, c := range further {
		if slices.Contains(also, c.Kind) {
			all = append(all, c)
		}
	}
	return all
}

// persistence are the calls that can follow an operation, none of them or one. The last operation
// of a workload is followed by one.
func persistence(c Call) (calls []Call) {
	path := c.Path
	if c.To != "" {
		path = c.To
	}
	switch c.Kind {
	case Unlink, Rmdir, Symlink: // there is no file to open, or another one
	default:
		calls = append(calls, Call{Kind: Fsync, Path: path})
		if slices.Contains([]Kind{Write, Truncate, Fallocate, PunchHole}, c.Kind) {
			calls = append(calls, Call{Kind: Fdatasync, Path: path})
		}
	}
	if above := path[:max(strings.LastIndexByte(path, '/'), 0)]; above != "" {
		calls = append(calls, Call{Kind: Fsync, Path: above})
	}
	return append(calls, Call{Kind: Sync})
}

// Workloads are all sequences of so many operations, each followed by a persistence call or none,
// and the last by one (as ACE makes them: Mohan and others, OSDI 2018). also are kinds of further
// operations. With WriteBack, an operation may also be followed by that: each choice of what the
// kernel has written by then is a workload of its own.
func Workloads(length int, also ...Kind) (all [][]Call) {
	operations := operationsWith(also)
	var extend func(before []Call, left int)
	extend = func(before []Call, left int) {
		for _, c := range operations {
			with := append(before[:len(before):len(before)], c)
			if left > 1 {
				extend(with, left-1)
			}
			if left > 1 && slices.Contains(also, WriteBack) && dirties(c) {
				extend(append(with[:len(with):len(with)], Call{Kind: WriteBack, Path: c.Path}), left-1)
			}
			for _, p := range persistence(c) {
				persisted := append(with[:len(with):len(with)], p)
				if left > 1 {
					extend(persisted, left-1)
				} else {
					all = append(all, persisted)
				}
			}
		}
	}
	extend(nil, length)
	return all
}

// Kinds are those of all calls that workloads can have.
func Kinds() (kinds []Kind) {
	for _, c := range operations {
		kinds = append(kinds, c.Kind)
		for _, p := range persistence(c) {
			kinds = append(kinds, p.Kind)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
