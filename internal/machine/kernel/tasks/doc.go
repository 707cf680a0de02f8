// Package tasks has no code. Packages below it are what processes and threads have: signals,
// futexes, filters of calls, Ariadne's own memory in them. They may import the kernel's core,
// packages below it and leaf; area, seccomp and signal are below the core.
package tasks
