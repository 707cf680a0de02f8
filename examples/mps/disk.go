package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// disk is what a replica must not forget: a file of one line for each promise and each acceptance.
type disk struct {
	promised int
	log      []vote // what was accepted, by decree, from 1
	file     *os.File
}

type record struct {
	Promised int
	Decree   int // 0: nothing was accepted
	Vote     vote
}

func openDisk(path string) (*disk, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	d := &disk{file: file}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		// A line that a crash has cut off was not answered for.
		var r record
		if json.Unmarshal(lines.Bytes(), &r) == nil {
			d.apply(r)
		}
	}
	// What comes next begins a line.
	_, err = fmt.Fprintln(file)
	return d, err
}

func (d *disk) apply(r record) {
	d.promised = r.Promised
	if r.Decree > len(d.log) {
		d.log = append(d.log, r.Vote)
	} else if r.Decree > 0 {
		d.log[r.Decree-1] = r.Vote
	}
}

func (d *disk) remember(r record) {
	line, err := json.Marshal(r)
	if err == nil {
		_, err = d.file.Write(append(line, '\n'))
	}
	if err = errors.Join(err, d.file.Sync()); err != nil {
		fail(err)
	}
	d.apply(r)
}

// promise makes ballot the lowest of which anything will be accepted.
func (d *disk) promise(ballot int) {
	if ballot > d.promised {
		d.remember(record{Promised: ballot})
	}
}

// accept enters a vote, at a decree of the log or behind it.
func (d *disk) accept(decree int, v vote) {
	if decree > len(d.log) || d.log[decree-1] != v {
		d.remember(record{max(d.promised, v.Ballot), decree, v})
	}
}
