//go:build linux

// Package disk checks storage stacks: it runs a workload on a stack, forms the contents that a loss
// of power may leave on the devices, has the stack recover on each, and judges what comes back.
//
// It mounts nothing itself (internal/system/stack does), and does not decide what a loss may take
// (internal/leaf/disk/block) or what a file system must keep (internal/leaf/disk/fsmodel).
//
// Invariants: a verdict is of exactly these contents. A rejected image was rejected twice.
// The checker has accepted what the workload left without a loss.
//
// Read next: spec.go, check.go, execution.go, judge.go, subject.go, group.go.
package disk
