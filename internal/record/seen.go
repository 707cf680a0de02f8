package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
)

// Seen is the file in which a check keeps what it has seen, if a check that resumes it would not
// see that again. The store of transitions would be too slow: it takes as long for a hash as for a
// transition, and there are far more hashes.
type Seen struct {
	Log  *coverage.Log
	path string
	file *os.File // nil until there is something to write
}

// OpenSeen continues a file. The error says what is wrong with the file.
func (d *Dir) OpenSeen(t *coverage.Totals, key ariadne.Digest, record int) (*Seen, error) {
	path := d.SeenPath()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing", path)
	}
	if err != nil {
		return nil, err
	}
	l, end, err := coverage.ReadLog(t, key, bufio.NewReaderSize(file, 1<<16), record)
	if err == nil {
		err = file.Truncate(end)
	}
	if err == nil {
		_, err = file.Seek(end, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Seen{Log: l, path: path, file: file}, nil
}

// NewSeen begins a file, and replaces one that cannot be continued.
func (d *Dir) NewSeen(l *coverage.Log) *Seen { return &Seen{Log: l, path: d.SeenPath()} }

// SeenPath is where what was seen is kept.
func (d *Dir) SeenPath() string { return filepath.Join(d.Path, seenFile) }

// Write writes a record. The file is made anew for the first one.
func (s *Seen) Write(a *coverage.Account) (err error) {
	if s.file == nil {
		if s.file, err = os.Create(s.path); err != nil {
			return err
		}
	}
	return s.Log.Write(s.file, a)
}

// Close gives up the file.
func (s *Seen) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
