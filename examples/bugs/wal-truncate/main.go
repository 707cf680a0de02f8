// A program that keeps a log with tidwall/wal. With "put" it writes entries, says so, and removes
// the first ones; with "look" it opens what is there, and fails when an entry is missing that was
// to stay, or one between others.
package main

import (
	"fmt"
	"log"
	"os"
	"syscall"

	"github.com/tidwall/wal"
)

const (
	first = 4 // what is before is removed
	last  = 6
)

func main() {
	log.SetFlags(0)
	// Two entries fill a segment.
	l, err := wal.Open("log", &wal.Options{SegmentSize: 16})
	if err != nil {
		log.Fatal("open: ", err)
	}
	if len(os.Args) > 1 && os.Args[1] == "look" {
		check(l)
		return
	}
	for i := uint64(1); i <= last; i++ {
		if err := l.Write(i, entry(i)); err != nil {
			log.Fatal("write: ", err)
		}
	}
	// The names of new segments are not synced either; here they are, so that all that a loss of
	// power takes is the truncation's.
	syscall.Sync()
	fmt.Println("written")
	if err := l.TruncateFront(first); err != nil {
		log.Fatal("truncate: ", err)
	}
}

func entry(i uint64) []byte { return []byte(fmt.Sprintf("entry %02d", i)) }

func check(l *wal.Log) {
	from, err := l.FirstIndex()
	if err != nil {
		log.Fatal("first: ", err)
	}
	to, err := l.LastIndex()
	if err != nil {
		log.Fatal("last: ", err)
	}
	if from == 0 || from > first || to != last {
		log.Fatalf("entries %d to %d were to stay, and the log has %d to %d", first, last, from, to)
	}
	defer func() {
		if e := recover(); e != nil {
			log.Fatal("a read of the log has panicked: ", e)
		}
	}()
	for i := from; i <= to; i++ {
		if data, err := l.Read(i); err != nil || string(data) != string(entry(i)) {
			log.Fatalf("entry %d of %d to %d: %q, %v", i, from, to, data, err)
		}
	}
}
