// Command badger keeps rows with badger, each synced (SyncWrites).
package main

import (
	"errors"
	"strings"

	"storage"

	"github.com/dgraph-io/badger/v4"
)

type store struct{ *badger.DB }

func (s store) Put(row string) error {
	return s.Update(func(tx *badger.Txn) error { return tx.Set([]byte(row), []byte(strings.Repeat(row, 1000))) })
}

func (s store) Has(row string) (there bool, err error) {
	err = s.View(func(tx *badger.Txn) error {
		_, err := tx.Get([]byte(row))
		return err
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	return err == nil, err
}

func main() {
	storage.Main(func() (storage.Store, error) {
		db, err := badger.Open(badger.DefaultOptions("db").WithSyncWrites(true).WithLogger(nil).WithMemTableSize(1 << 20).WithValueLogFileSize(1 << 20).
			WithValueThreshold(1 << 10).WithNumMemtables(1).WithNumCompactors(2).WithBlockCacheSize(1 << 20))
		return store{db}, err
	})
}
