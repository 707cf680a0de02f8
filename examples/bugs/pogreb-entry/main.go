// A program that keeps a key with pogreb. With "put" it stores one, syncs and says so; with "look"
// it opens what is there, and fails when a key that it has acknowledged is missing.
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/akrylysov/pogreb"
)

func main() {
	log.SetFlags(0)
	look := len(os.Args) > 1 && os.Args[1] == "look"
	if _, err := os.Stat("acknowledged"); look && err != nil {
		return // nobody was promised a database
	}
	db, err := pogreb.Open("db", nil)
	if err != nil {
		log.Fatal("open: ", err)
	}
	if look {
		value, err := db.Get([]byte("k"))
		if err != nil || string(value) != "v" {
			log.Fatalf("an acknowledged key is lost: %q, %v", value, err)
		}
		return
	}
	if err := db.Put([]byte("k"), []byte("v")); err != nil {
		log.Fatal("put: ", err)
	}
	if err := db.Sync(); err != nil {
		log.Fatal("sync: ", err)
	}
	acknowledge()
	fmt.Println("acknowledged")
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
