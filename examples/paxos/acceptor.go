package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// acceptor is the memory of a node. It writes to disk before it answers: a file of one line for
// each promise and each acceptance.
type acceptor struct {
	promised ballot
	votes    []vote // by slot, from 1
	file     *os.File
	// forgets plants a bug: promises are made and forgotten.
	forgets bool
}

// openAcceptor opens or makes the file and remembers what it says.
func openAcceptor(dir string, decrees int) (*acceptor, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, "acceptor"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	a := &acceptor{votes: make([]vote, decrees+1), file: file}
	return a, errors.Join(a.read(), syncDir(dir))
}

func (a *acceptor) read() error {
	data, err := os.ReadFile(a.file.Name())
	if err != nil {
		return err
	}
	// A line that a crash has cut off was never answered for.
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	for line := range strings.Lines(string(data)) {
		m, err := parse(line)
		if err != nil {
			return err
		}
		if m.slot < 0 || m.slot >= len(a.votes) {
			return fmt.Errorf("%s: there is no slot %d", a.file.Name(), m.slot)
		}
		a.apply(m)
	}
	return a.file.Truncate(int64(len(data)))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func (a *acceptor) apply(m message) {
	if !a.forgets {
		a.promised = m.ballot
	}
	if m.kind == "accepted" {
		a.votes[m.slot] = vote{m.ballot, m.value}
	}
}

// promise answers phase 1. It reports whether the ballot was high enough.
func (a *acceptor) promise(b ballot) bool {
	if b.less(a.promised) {
		fmt.Printf("refused ballot=%s promised=%s\n", b, a.promised)
		return false
	}
	a.remember(message{kind: "promised", ballot: b})
	fmt.Printf("promised ballot=%s\n", b)
	return true
}

// accept answers phase 2. It reports whether the ballot was high enough.
func (a *acceptor) accept(b ballot, slot int, value string) bool {
	if b.less(a.promised) {
		fmt.Printf("refused ballot=%s promised=%s\n", b, a.promised)
		return false
	}
	a.remember(message{kind: "accepted", ballot: b, slot: slot, value: value})
	fmt.Printf("accepted slot=%d ballot=%s value=%s\n", slot, b, value)
	return true
}

func (a *acceptor) remember(m message) {
	_, err := fmt.Fprintln(a.file, m)
	if err = errors.Join(err, a.file.Sync()); err != nil {
		fail(1, "%v", err)
	}
	a.apply(m)
}
