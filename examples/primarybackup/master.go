package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// master keeps the configuration, in a log of one line for each.
type master struct {
	*endpoint
	config configuration
	log    *os.File
	// late plants a bug: lines are written by and by, and answers do not wait for that.
	late    bool
	pending []byte
}

// flushTime is how often a master with the bug writes what is pending.
const flushTime = time.Second

func serveMaster(e *endpoint, path string, first configuration, late bool) error {
	log, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	m := &master{endpoint: e, config: first, log: log, late: late}
	for lines := bufio.NewScanner(log); lines.Scan(); {
		// A line that a crash has cut off was not answered for.
		var c configuration
		if json.Unmarshal(lines.Bytes(), &c) == nil {
			m.config = c
		}
	}
	fmt.Printf("configuration %d led by %s\n", m.config.Version, m.config.Primary)
	var flush time.Time
	for {
		q, ok := m.receive(flush)
		flush = time.Time{}
		if !ok {
			if err := m.flush(); err != nil {
				return err
			}
			continue
		}
		if q.Kind != "propose" {
			continue
		}
		if q.Config.Version == m.config.Version+1 && m.config.has(q.From) {
			if err := m.take(q.Config); err != nil {
				return err
			}
		}
		if len(m.pending) > 0 {
			flush = time.Now().Add(flushTime)
		}
		m.send(q.From, message{Kind: "config", Config: m.config})
	}
}

// take makes c the configuration.
func (m *master) take(c configuration) error {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	m.pending = append(append(m.pending, line...), '\n')
	m.config = c
	fmt.Printf("configuration %d led by %s\n", c.Version, c.Primary)
	if m.late {
		return nil
	}
	return m.flush()
}

func (m *master) flush() error {
	_, err := m.log.Write(m.pending)
	m.pending = nil
	return errors.Join(err, m.log.Sync())
}
