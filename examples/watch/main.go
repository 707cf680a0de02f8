// Command baton is one of several processes that pass a baton to each other. A process that has it
// leads. It says so in a file of lines, and that it does not lead any more before it passes the
// baton on. So at most one process leads at any time. With -slots there is no baton: each process
// leads in its own slot of time, also after another one has died while it led.
//
// It is watched by ariadne watch, which is checked by ariadne check.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

var (
	id    = flag.Int("id", 1, "number of this process, from 1")
	n     = flag.Int("n", 3, "how many processes there are")
	hold  = flag.Duration("hold", 300*time.Millisecond, "for how long a process leads")
	slots = flag.Bool("slots", false, "lead by the clock")
	late  = flag.Bool("late", false, "pass the baton on, and stop to lead 100 ms later")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	// A new life has a new file.
	lines, err := os.Create("log")
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", ":7000")
	if err != nil {
		return err
	}
	if err := os.WriteFile("pid", []byte(fmt.Sprintln(os.Getpid())), 0o644); err != nil {
		return err
	}
	if *slots {
		return leadInSlots(lines)
	}
	if _, err := os.Stat("started"); os.IsNotExist(err) {
		if err := os.WriteFile("started", nil, 0o644); err != nil {
			return err
		}
		if *id == 1 {
			if err := lead(lines, 1); err != nil {
				return err
			}
		}
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		text, err := io.ReadAll(c)
		c.Close()
		term, wrong := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || wrong != nil {
			continue // the other one has died, and the baton is lost
		}
		if err := lead(lines, term); err != nil {
			return err
		}
	}
}

// slot is from when one process may lead to when the next one may. It leaves time for the end.
const slot = 400 * time.Millisecond

// leadInSlots leads whenever the process's own slot begins.
func leadInSlots(lines io.Writer) error {
	round := time.Duration(*n) * slot
	for {
		now := time.Duration(time.Now().UnixNano())
		begin := now.Truncate(round) + time.Duration(*id-1)*slot
		if begin < now {
			begin += round
		}
		time.Sleep(begin - now)
		if time.Duration(time.Now().UnixNano()) > begin+slot/10 {
			continue // too late for this slot
		}
		if _, err := fmt.Fprintf(lines, "leads %d\n", begin/slot); err != nil {
			return err
		}
		time.Sleep(*hold)
		if _, err := fmt.Fprintf(lines, "follows\n"); err != nil {
			return err
		}
	}
}

// lead leads for a while, and passes the baton on.
func lead(lines io.Writer, term int) error {
	if _, err := fmt.Fprintf(lines, "leads %d\n", term); err != nil {
		return err
	}
	time.Sleep(*hold)
	stop := func() error {
		_, err := fmt.Fprintf(lines, "follows\n")
		return err
	}
	if *late {
		pass(term + 1)
		time.Sleep(100 * time.Millisecond)
		return stop()
	}
	if err := stop(); err != nil {
		return err
	}
	pass(term + 1)
	return nil
}

// pass gives the baton to the next process. If that is not there, the baton is lost.
func pass(term int) {
	c, err := net.DialTimeout("tcp", fmt.Sprintf("n%d:7000", *id%*n+1), time.Second)
	if err != nil {
		return
	}
	fmt.Fprintln(c, term)
	c.Close()
}
