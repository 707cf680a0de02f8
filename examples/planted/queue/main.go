// Command queue is a queue of jobs: what a worker does not acknowledge in time is given to the
// next one.
//
//	queue broker [careless]
//	queue worker
//	queue client
//
// The broker keeps jobs in slots. An acknowledgement names the slot and the delivery. A
// careless broker looks at the slot alone, and takes a late one for that of the job which is
// there now. It then forgets that job, and says that nothing is left while it is not done.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"planted/lines"
)

const (
	patience = 100 * time.Millisecond // with a worker
	work     = 30 * time.Millisecond
	jobs     = 4
)

func main() {
	switch os.Args[1] {
	case "broker":
		b := broker{careless: len(os.Args) > 2}
		go b.watch()
		lines.Serve(":7000", &b.mu, b.said)
	case "worker":
		worker()
	case "client":
		client()
	}
}

type slot struct {
	job      string // "": free
	delivery int    // 0: it waits for a worker
	until    time.Time
}

type broker struct {
	careless   bool
	mu         sync.Mutex
	slots      [2]slot
	queued     []string // without a slot
	idle       []*lines.Conn
	client     *lines.Conn
	deliveries int
	jobs       int // that were put
}

func (b *broker) said(c *lines.Conn, words []string) {
	switch words[0] {
	case "put":
		b.client = c
		b.queued = append(b.queued, words[1])
		b.jobs++
	case "get":
		b.idle = append(b.idle, c)
	case "done": // JOB SLOT DELIVERY
		b.client.Say("done %s", words[1])
		s := &b.slots[number(words[2])]
		if s.job != "" && (b.careless || s.delivery == number(words[3])) {
			*s = slot{}
		}
	}
	b.give()
	if b.slots == [2]slot{} && words[0] == "done" {
		b.client.Say("empty %d", b.jobs)
	}
}

// give gives jobs to slots, and slots to workers.
func (b *broker) give() {
	for i := range b.slots {
		s := &b.slots[i]
		if s.job == "" && len(b.queued) > 0 {
			s.job, b.queued = b.queued[0], b.queued[1:]
		}
		if s.job != "" && s.delivery == 0 && len(b.idle) > 0 {
			b.deliveries++
			s.delivery, s.until = b.deliveries, time.Now().Add(patience)
			b.idle[0].Say("job %s %d %d", s.job, i, s.delivery)
			b.idle = b.idle[1:]
		}
	}
}

// watch takes jobs back.
func (b *broker) watch() {
	for range time.Tick(50 * time.Millisecond) {
		b.mu.Lock()
		for i := range b.slots {
			if s := &b.slots[i]; s.delivery > 0 && time.Now().After(s.until) {
				s.delivery = 0
			}
		}
		b.give()
		b.mu.Unlock()
	}
}

// worker acknowledges on a connection of its own.
func worker() {
	jobs, acks := lines.Dial("broker:7000"), lines.Dial("broker:7000")
	for {
		words := jobs.Ask("get")
		time.Sleep(work)
		acks.Say("done %s %s %s", words[1], words[2], words[3])
	}
}

func client() {
	broker := lines.Dial("broker:7000")
	for i := range jobs {
		broker.Say("put job%d", i)
		time.Sleep(20 * time.Millisecond)
	}
	done := map[string]bool{}
	for len(done) < jobs {
		switch words := broker.Hear(); words[0] {
		case "done":
			done[words[1]] = true
		case "empty":
			if n := number(words[1]); len(done) < n {
				lines.Fail("nothing is left of %d jobs, and %d are done", n, len(done))
			}
		}
	}
	fmt.Println("all jobs are done")
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		lines.Fail("%v", err)
	}
	return n
}
