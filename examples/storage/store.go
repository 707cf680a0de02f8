// Package storage has workloads of tools/storage: programs that keep rows in a database and say
// which they have stored.
package storage

import (
	"fmt"
	"os"
	"strings"
)

// Store keeps rows.
type Store interface {
	// Put returns when the row outlives a loss of power.
	Put(row string) error
	Has(row string) (bool, error)
	Close() error
}

// Main puts rows (put ROW...) and says each in the file "said", or checks what is there (check):
// status 1 if it cannot be read, 2 when a row is missing that was said.
func Main(open func() (Store, error)) {
	status, err := run(open, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}

func run(open func() (Store, error), args []string) (int, error) {
	said, err := os.OpenFile("said", os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return 1, err
	}
	s, err := open()
	if err != nil {
		return 1, err
	}
	if args[0] == "put" {
		for _, row := range args[1:] {
			if err := s.Put(row); err != nil {
				return 1, err
			}
			fmt.Fprintln(said, row)
		}
		return 0, s.Close()
	}
	text, err := os.ReadFile("said")
	if err != nil {
		return 1, err
	}
	for _, row := range strings.Fields(string(text)) {
		if there, err := s.Has(row); err != nil {
			return 1, err
		} else if !there {
			return 2, fmt.Errorf("missing: %s", row)
		}
	}
	return 0, s.Close()
}
