//go:build linux

// Package stack runs storage stacks of the running kernel over block devices whose content
// Ariadne holds: file systems, and programs on top of them.
//
// A device is a loop device over a file that a FUSE server in this process serves. Everything else
// happens in a worker: a process of its own, the first one of a PID namespace, with a mount
// namespace of its own. So nothing that a stack mounts is seen outside, and all of it ends with the
// worker. This process never looks into a mounted stack: it would wait for itself.
//
// It does not know what is checked (internal/use/disk), or what a loss of power leaves
// (internal/leaf/disk/block).
//
// Invariants: a flush and a write enter the log of their recorder before the kernel is told
// that they are done. When this process ends, however it does, the kernel fails all requests of its
// devices, kills the workers and with them unmounts and detaches everything.
//
// Read next: server.go, worker.go, mounts.go, steps.go.
package stack
