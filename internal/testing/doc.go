// Package testing has no code. Packages below it are tests alone, with programs that show what is
// emulated and programs that try to get out of a node, draws, which fixes the seed of property
// tests, and ended, which waits for processes to end. Only tests import them.
package testing
