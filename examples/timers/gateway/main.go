// Command gateway is a number in a store, behind a gateway that lets one client at a time write.
//
//	gateway gate [careless]
//	gateway store
//	gateway client
//
// A client acquires a lease of 3 s, reads the number, and writes it back plus one. The gateway
// looks at the lease when the write arrives, asks the store to prepare it, and commits when the
// store has answered. By then the lease may have ended, and another client may have the next one.
// So the gateway looks once more before it commits. A careless one does not.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"planted/lines"
)

const lease = 3 * time.Second

func main() {
	switch os.Args[1] {
	case "gate":
		gate(len(os.Args) > 2)
	case "store":
		var mu sync.Mutex
		lines.Serve(":7001", &mu, func(c *lines.Conn, words []string) { c.Say("prepared") })
	case "client":
		client()
	}
}

// write is one that the store prepares.
type write struct {
	from  *lines.Conn
	epoch string
	value string
}

func gate(careless bool) {
	var (
		mu        sync.Mutex
		epoch     int
		until     time.Time
		preparing []write
		value     = "0"
		commits   int
	)
	holds := func(e string) bool { return e == strconv.Itoa(epoch) && time.Now().Before(until) }
	store := lines.Dial("store:7001")
	go func() {
		for store.Hear() != nil {
			mu.Lock()
			w := preparing[0]
			preparing = preparing[1:]
			if careless || holds(w.epoch) {
				value = w.value
				commits++
				w.from.Say("written %d", commits)
			} else {
				w.from.Say("expired")
			}
			mu.Unlock()
		}
	}()
	lines.Serve(":7000", &mu, func(c *lines.Conn, words []string) {
		switch words[0] {
		case "acquire":
			if time.Now().Before(until) {
				c.Say("busy")
				return
			}
			epoch++
			until = time.Now().Add(lease)
			c.Say("granted %d", epoch)
		case "read":
			c.Say("value %s", value)
		case "write":
			if !holds(words[1]) {
				c.Say("expired")
				return
			}
			preparing = append(preparing, write{c, words[1], words[2]})
			store.Say("prepare %s", words[2])
		case "release":
			if holds(words[1]) {
				until = time.Time{}
			}
		}
	})
}

func client() {
	gate := lines.Dial("gate:7000")
	for range 2 {
		granted := gate.Ask("acquire")
		if granted[0] == "busy" {
			continue
		}
		read, _ := strconv.Atoi(gate.Ask("read")[1])
		written := gate.Ask("write %s %d", granted[1], read+1)
		if written[0] == "written" && written[1] != strconv.Itoa(read+1) {
			lines.Fail("wrote %d, by write number %s", read+1, written[1])
		}
		gate.Say("release %s", granted[1])
	}
	fmt.Println("done")
}
