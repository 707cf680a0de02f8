// Package devices has no code. Packages below it are the devices that programs open: terminals, the
// console, random bytes, and /dev/ariadne. They may import the kernel's core, packages below it and
// leaf.
package devices
