// Package explore has no code. Packages below it say what can happen next, remember what nodes do,
// and choose the ways through it. None knows of Linux, but for memo/bolt, which keeps a store in a
// file. This folder may import judge, leaf and the nouns. The folders system, record and use may
// import it.
package explore
