// Package testing has no code. Packages below it are tests alone, with programs that show what is
// emulated and programs that try to get out of a node. No package imports them.
package testing
