// Command bbolt is a workload of tools/storage: it puts a row into a database of bbolt's and says
// so, for each argument but the first two, or checks the database.
package main

import (
	"fmt"
	"os"
	"strings"

	"go.etcd.io/bbolt"
)

func main() {
	var err error
	if len(os.Args) > 2 && os.Args[1] == "put" {
		err = put(os.Args[2:])
	} else {
		err = check()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var bucket = []byte("rows")

func put(rows []string) error {
	db, err := bbolt.Open("db", 0o644, nil)
	if err != nil {
		return err
	}
	said, err := os.OpenFile("said", os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	for _, r := range rows {
		err := db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists(bucket)
			if err != nil {
				return err
			}
			return b.Put([]byte(r), []byte(strings.Repeat(r, 1000)))
		})
		if err != nil {
			return err
		}
		fmt.Fprintln(said, r)
	}
	return db.Close()
}

// check ends with status 2 when a row is missing that was promised.
func check() error {
	said, err := os.ReadFile("said")
	if err != nil {
		return err
	}
	db, err := bbolt.Open("db", 0o644, nil)
	if err != nil {
		return err
	}
	return db.Update(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			return err
		}
		for _, r := range strings.Fields(string(said)) {
			if b := tx.Bucket(bucket); b == nil || b.Get([]byte(r)) == nil {
				fmt.Println("missing:", r)
				os.Exit(2)
			}
		}
		return nil
	})
}
