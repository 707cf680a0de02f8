// A program that keeps a key with pebble. With "put" it stores one, synced, says so, and opens the
// database again; with "look" it opens what is there, and fails when a key that it has acknowledged
// is missing.
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/cockroachdb/pebble"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) > 1 && os.Args[1] == "look" {
		look()
		return
	}
	db := open()
	if err := db.Set([]byte("k"), []byte("v"), pebble.Sync); err != nil {
		log.Fatal("put: ", err)
	}
	if err := db.Close(); err != nil {
		log.Fatal("close: ", err)
	}
	acknowledge()
	fmt.Println("acknowledged")
	if err := open().Close(); err != nil {
		log.Fatal("close: ", err)
	}
}

type silent struct{}

func (silent) Infof(string, ...any)              {}
func (silent) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }

func open() *pebble.DB {
	db, err := pebble.Open("db", &pebble.Options{Logger: silent{}, FormatMajorVersion: pebble.FormatNewest})
	if err != nil {
		log.Fatal("open: ", err)
	}
	return db
}

func look() {
	if _, err := os.Stat("acknowledged"); err != nil {
		return // nobody was promised a database
	}
	value, closer, err := open().Get([]byte("k"))
	if err != nil || string(value) != "v" {
		log.Fatalf("an acknowledged key is lost: %q, %v", value, err)
	}
	closer.Close()
}

// acknowledge leaves a mark that outlives every loss of power.
func acknowledge() {
	if err := os.WriteFile("acknowledged", nil, 0o644); err != nil {
		log.Fatal(err)
	}
	dir, err := os.Open(".")
	if err == nil {
		err = dir.Sync()
	}
	if err != nil {
		log.Fatal(err)
	}
}
