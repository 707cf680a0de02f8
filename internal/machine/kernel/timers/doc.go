// Package timers has no code. Packages below it are the timers that programs make: those that send
// signals and those with a descriptor. They may import the kernel's core, packages below it and
// leaf.
package timers
