// Command pebble keeps rows with pebble, each synced.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"storage"

	"github.com/cockroachdb/pebble"
)

type store struct{ *pebble.DB }

func (s store) Put(row string) error {
	return s.Set([]byte(row), []byte(strings.Repeat(row, 1000)), pebble.Sync)
}

func (s store) Has(row string) (bool, error) {
	_, c, err := s.Get([]byte(row))
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err == nil {
		err = c.Close()
	}
	return true, err
}

type silent struct{}

func (silent) Infof(string, ...any) {}

// Fatalf ends the program, as pebble wants it: a write that was reported to it has failed.
func (silent) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

func main() {
	storage.Main(func() (storage.Store, error) {
		db, err := pebble.Open("db", &pebble.Options{Logger: silent{}, FormatMajorVersion: pebble.FormatNewest})
		return store{db}, err
	})
}
