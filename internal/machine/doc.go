// Package machine has no code. Packages below it emulate one machine for real Linux programs: its
// system calls, its kernel, its files, its processor. None knows what searches. This folder may
// import leaf and the nouns. The folders system and use may import it.
package machine
