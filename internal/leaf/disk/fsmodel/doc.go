// Package fsmodel is an abstract file system: what calls on files do, what of it a recovery after a
// loss of power must bring back, and workloads of such calls.
//
// It makes no call of Linux's (internal/system/stack does), and knows no block of a disk
// (internal/leaf/disk/block).
//
// Invariant: a rule demands no more than the manual pages and the documented promises of
// the file systems for which it is meant.
//
// Read next: call.go, tree.go, history.go, rules.go, workloads.go.
package fsmodel
