// A program that keeps a key with badger. With "put" it stores one, syncs, says so, and closes the
// database, which writes what is in memory to a table; with "look" it opens what is there, and
// fails when the key is missing.
package main

import (
	"fmt"
	"log"
	"os"
	"syscall"

	"github.com/dgraph-io/badger/v3"
)

func main() {
	log.SetFlags(0)
	db := open()
	if len(os.Args) > 1 && os.Args[1] == "look" {
		if err := db.View(func(tx *badger.Txn) error {
			_, err := tx.Get([]byte("k"))
			return err
		}); err != nil {
			log.Fatal("the key is lost: ", err)
		}
		return
	}
	if err := db.Update(func(tx *badger.Txn) error { return tx.Set([]byte("k"), []byte("v")) }); err != nil {
		log.Fatal("put: ", err)
	}
	syscall.Sync()
	fmt.Println("written")
	if err := db.Close(); err != nil {
		log.Fatal("close: ", err)
	}
}

// open opens the database with the defaults, but for the room that they take.
func open() *badger.DB {
	opts := badger.DefaultOptions("db").WithLogger(nil).WithMemTableSize(1 << 20).WithValueLogFileSize(1 << 20).
		WithValueThreshold(1 << 10).WithNumMemtables(1).WithNumCompactors(2).WithBlockCacheSize(1 << 20)
	db, err := badger.Open(opts)
	if err != nil {
		// An empty file of a memory table, which is also there when a process is killed, is in the
		// way once (badger issue 2207).
		db, err = badger.Open(opts)
	}
	if err != nil {
		log.Fatal("open: ", err)
	}
	return db
}
