// A program that keeps keys with goleveldb. With "put" it opens a database and stores a key,
// synced, twice, and each time says so; with "look" it opens what is there, and fails when a key
// that it has acknowledged is missing.
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

var keys = []string{"a", "b"}

func main() {
	log.SetFlags(0)
	if len(os.Args) > 1 && os.Args[1] == "look" {
		look()
		return
	}
	for _, key := range keys {
		put(key)
		acknowledge(key)
	}
}

func open() *leveldb.DB {
	db, err := leveldb.OpenFile("db", nil)
	if err != nil {
		log.Fatal("open: ", err)
	}
	return db
}

func put(key string) {
	db := open()
	if err := db.Put([]byte(key), []byte("v"), &opt.WriteOptions{Sync: true}); err != nil {
		log.Fatal("put: ", err)
	}
	if err := db.Close(); err != nil {
		log.Fatal("close: ", err)
	}
}

func look() {
	if _, err := os.Stat("acknowledged-a"); err != nil {
		return // nobody was promised a database
	}
	db := open()
	for _, key := range keys {
		if _, err := os.Stat("acknowledged-" + key); err != nil {
			return
		}
		if value, err := db.Get([]byte(key), nil); err != nil || string(value) != "v" {
			log.Fatalf("an acknowledged key is lost: %s: %q, %v", key, value, err)
		}
	}
}

// acknowledge leaves a mark that outlives every loss of power.
func acknowledge(key string) {
	if err := os.WriteFile("acknowledged-"+key, nil, 0o644); err != nil {
		log.Fatal(err)
	}
	dir, err := os.Open(".")
	if err == nil {
		err = dir.Sync()
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("acknowledged", key)
}
