package run

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"ariadne"
	"ariadne/internal/coverage"
)

// seenLog is the file in which a check keeps what it has seen, if a check that goes on
// with it would not see that again. A store as that of transitions would take as long
// for a hash as for a transition, of which there are far fewer.
type seenLog struct {
	log  *coverage.Log
	path string
	file *os.File // nil until there is something to write
}

// openSeen goes on with a file. The error says what is wrong with it.
func openSeen(path string, t *coverage.Totals, key ariadne.Digest, record int) (*seenLog, error) {
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
	return &seenLog{log: l, path: path, file: file}, nil
}

// write writes a record. The file is made anew for the first one.
func (s *seenLog) write(a *coverage.Account) (err error) {
	if s.file == nil {
		if s.file, err = os.Create(s.path); err != nil {
			return err
		}
	}
	return s.log.Write(s.file, a)
}

func (s *seenLog) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// recall takes up what the check had seen before it was interrupted, and keeps from now
// on what it sees.
func (x *explorer) recall(version ariadne.Digest) {
	path, key := filepath.Join(x.report.Out, seenFile), x.seenKey(version)
	was, record := x.report.Coverage, 0
	if x.from > 0 && was != nil {
		var err error
		if x.kept, err = openSeen(path, x.totals, key, was.Record); err == nil {
			x.before = *was
			x.cover.Bounded, x.cover.Merged, x.cover.RulesAudited = was.Bounded, was.Merged, was.RulesAudited
			x.cover.Known, x.cover.Given = was.Known, was.Given
			x.cover.Earlier, x.cover.Lost, x.cover.Record = was.Earlier, was.Lost, was.Record
			return
		}
		x.cover.Earlier, x.cover.Lost, x.cover.Record = x.report.Executions, err.Error(), was.Record
		x.totals = x.newTotals()
		record = was.Record
	}
	x.kept = &seenLog{log: coverage.NewLog(x.totals, key, record), path: path}
}

// seenKey is over what tells what a hash stands for: Ariadne itself, the nodes, and the
// rules for protocol states.
func (x *explorer) seenKey(version ariadne.Digest) ariadne.Digest {
	h := sha256.New()
	h.Write(version[:])
	for _, n := range x.system.Nodes() {
		h.Write(n.Initial[:])
	}
	for _, r := range x.opts.Search.States {
		fmt.Fprintf(h, "%q", r)
	}
	return ariadne.Digest(h.Sum(nil))
}

// newTotals begins to count within the share of memory for it.
func (x *explorer) newTotals() *coverage.Totals {
	return coverage.NewTotals(len(x.spec.Nodes), x.shares.counted)
}
