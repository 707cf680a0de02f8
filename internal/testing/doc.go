// Package testing has no code. Packages below it are tests alone, with programs that show what is
// emulated and programs that try to get out of a node, and draws, which fixes the seed of property
// tests. Only tests import them.
package testing
