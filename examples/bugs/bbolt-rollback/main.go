// Command store puts keys into a bbolt database whose list of free pages is not written
// (NoFreelistSync, as etcd has it), one transaction each, and reads them back.
//
// A transaction that fails has not happened. It is made again, some time later.
package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "store:", err)
		os.Exit(1)
	}
}

var bucket = []byte("bucket")

func run() error {
	var db *bolt.DB
	until("open", func() (err error) {
		db, err = bolt.Open("db", 0o600, &bolt.Options{NoFreelistSync: true})
		return err
	})
	until("create", func() error {
		return db.Update(func(tx *bolt.Tx) error {
			_, err := tx.CreateBucketIfNotExists(bucket)
			return err
		})
	})
	for i := range 5 {
		until("put", func() error {
			return db.Update(func(tx *bolt.Tx) error {
				return tx.Bucket(bucket).Put(fmt.Append(nil, "key-", i), fmt.Append(nil, i))
			})
		})
	}
	return db.View(func(tx *bolt.Tx) error {
		for i := range 5 {
			if string(tx.Bucket(bucket).Get(fmt.Append(nil, "key-", i))) != fmt.Sprint(i) {
				return errors.New("a key is missing")
			}
		}
		fmt.Println("all keys are there")
		return nil
	})
}

// until does something until it goes well.
func until(what string, do func() error) {
	for {
		err := do()
		if err == nil {
			return
		}
		fmt.Println(what, "failed:", err)
		time.Sleep(100 * time.Millisecond)
	}
}
