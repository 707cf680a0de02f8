// Command breaker is a proxy with a circuit breaker before a backend that needs a database.
//
//	breaker db
//	breaker backend
//	breaker proxy [eager]
//	breaker client
//
// Two failures open the breaker. A request that comes 1.2 s later is sent on as a probe, and
// decides whether the breaker closes. While a probe is under way, no other request goes to the
// backend. An eager proxy sends each request as a probe until the first one is answered. The
// backend, which is cold at first and fails twice, ends in an error if it has two probes at once.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"planted/lines"
)

const cool = 1200 * time.Millisecond

func main() {
	switch os.Args[1] {
	case "db":
		var mu sync.Mutex
		lines.Serve(":7002", &mu, func(c *lines.Conn, words []string) { c.Say("loaded") })
	case "backend":
		backend()
	case "proxy":
		proxy(len(os.Args) > 2)
	case "client":
		proxy := lines.Dial("proxy:7000")
		for range 5 {
			fmt.Println(proxy.Ask("get")[0])
		}
	}
}

func backend() {
	var mu sync.Mutex
	var waiting []string
	var asker *lines.Conn
	failures, probes := 2, 0
	db := lines.Dial("db:7002")
	go func() {
		for db.Hear() != nil {
			mu.Lock()
			if waiting[0] == "probe" {
				probes--
			}
			waiting = waiting[1:]
			if failures > 0 {
				failures--
				asker.Say("failed")
			} else {
				asker.Say("value")
			}
			mu.Unlock()
		}
	}()
	lines.Serve(":7001", &mu, func(c *lines.Conn, words []string) {
		asker = c
		if words[0] == "probe" {
			if probes++; probes > 1 {
				lines.Fail("%d probes at once", probes)
			}
		}
		waiting = append(waiting, words[0])
		db.Say("load")
	})
}

// asked is a request that the backend has not answered.
type asked struct {
	from  *lines.Conn
	probe bool
}

func proxy(eager bool) {
	var (
		mu       sync.Mutex
		waiting  []asked
		failures int
		opened   time.Time // zero: closed
		probing  bool
	)
	backend := lines.Dial("backend:7001")
	go func() {
		for words := backend.Hear(); words != nil; words = backend.Hear() {
			mu.Lock()
			a := waiting[0]
			waiting = waiting[1:]
			probing = probing && !a.probe
			if words[0] == "failed" {
				if failures++; failures >= 2 {
					opened = time.Now()
				}
			} else {
				failures, opened = 0, time.Time{}
			}
			a.from.Say("%s", words[0])
			mu.Unlock()
		}
	}()
	lines.Serve(":7000", &mu, func(c *lines.Conn, words []string) {
		request := "get"
		if !opened.IsZero() {
			if time.Since(opened) < cool || probing && !eager {
				c.Say("open")
				return
			}
			request, probing = "probe", true
		}
		waiting = append(waiting, asked{c, request == "probe"})
		backend.Say("%s", request)
	})
}
