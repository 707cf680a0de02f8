// Package channels has no code. Packages below it are what processes of a node pass data and counts
// through: pipes, eventfds, System V's objects, POSIX message queues. They may import the kernel's
// core, packages below it and leaf.
package channels
