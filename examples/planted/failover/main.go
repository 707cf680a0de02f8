// Command failover is a register with a primary and a backup, which takes over when the
// primary's lease has ended.
//
//	failover backup
//	failover primary [careless]
//	failover client
//
// The primary asks for its lease every 60 ms. The backup grants it for 200 ms, which it
// counts from when it was asked; until then it serves nobody. The primary counts from when it
// asked, and so knows the end early. A careless one counts from when it heard the
// answer, and may read out an old value after the backup has taken a new one.
package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"planted/lines"
)

const (
	lease  = 200 * time.Millisecond
	margin = 10 * time.Millisecond // for clocks that do not run alike
)

func main() {
	switch os.Args[1] {
	case "backup":
		backup()
	case "primary":
		primary(len(os.Args) > 2)
	case "client":
		client()
	}
}

func backup() {
	var mu sync.Mutex
	value, leads, end := "0", false, time.Now().Add(lease)
	go func() {
		for {
			time.Sleep(25 * time.Millisecond)
			mu.Lock()
			if !leads && time.Now().After(end) {
				leads = true
				fmt.Println("backup leads")
			}
			mu.Unlock()
		}
	}()
	lines.Serve(":7000", &mu, func(c *lines.Conn, words []string) {
		switch {
		case words[0] == "renew" && !leads: // by the primary
			end = time.Now().Add(lease)
			c.Say("granted %s", words[1])
		case words[0] == "copy" && !leads: // likewise
			value = words[1]
			c.Say("copied %s", value)
		case words[0] == "put" && leads:
			value = words[1]
			c.Say("put %s ok", value)
		case words[0] == "get" && leads:
			c.Say("get %s %s", words[1], value)
		default:
			c.Say("%s %s no", words[0], words[1])
		}
	})
}

func primary(careless bool) {
	var mu sync.Mutex
	var value string
	var end time.Time
	backup := lines.Dial("backup:7000")
	putters := map[string]*lines.Conn{}
	asked := []time.Time{}
	go func() {
		for {
			words := backup.Hear()
			mu.Lock()
			switch words[0] {
			case "granted":
				from := asked[0]
				asked = asked[1:]
				if careless {
					from = time.Now()
				}
				end = from.Add(lease - margin)
			case "copied":
				value = words[1]
				putters[value].Say("put %s ok", value)
			}
			mu.Unlock()
		}
	}()
	go func() {
		for n := 1; ; n++ {
			mu.Lock()
			asked = append(asked, time.Now())
			backup.Say("renew %d", n)
			mu.Unlock()
			time.Sleep(60 * time.Millisecond)
		}
	}()
	value = "0"
	lines.Serve(":7000", &mu, func(c *lines.Conn, words []string) {
		switch {
		case time.Now().After(end):
			c.Say("%s %s no", words[0], words[1])
		case words[0] == "put": // is answered when the backup has it
			putters[words[1]] = c
			backup.Say("copy %s", words[1])
		case words[0] == "get":
			c.Say("get %s %s", words[1], value)
		}
	})
}

// client puts and gets, at the primary first. A put that the primary does not answer in time
// is repeated, at the backup when that leads.
func client() {
	primary, backup := lines.Dial("primary:7000"), lines.Dial("backup:7000")
	answers := make(chan string, 100)
	go func() {
		for words := primary.Hear(); words != nil; words = primary.Hear() {
			answers <- strings.Join(words, " ")
		}
	}()
	for i := 1; i <= 3; i++ {
		for !put(primary, backup, answers, i) {
			time.Sleep(20 * time.Millisecond)
		}
		primary.Say("get %d", i)
		got := ""
		for !strings.HasPrefix(got, fmt.Sprintf("get %d ", i)) {
			got = <-answers // to this, and not to a put that was repeated
		}
		if strings.HasSuffix(got, " no") {
			got = strings.Join(backup.Ask("get %d", i), " ")
		}
		if want := fmt.Sprintf("get %d %d", i, i); got != want && !strings.HasSuffix(got, " no") {
			lines.Fail("put %d and then %s", i, got)
		}
		time.Sleep(40 * time.Millisecond)
	}
	fmt.Println("got what was put")
}

// put tries to put a value wherever it is taken.
func put(primary, backup *lines.Conn, answers chan string, i int) bool {
	if backup.Ask("put %d", i)[2] == "ok" {
		return true
	}
	primary.Say("put %d", i)
	late := time.After(100 * time.Millisecond)
	for {
		select {
		case a := <-answers:
			if strings.HasPrefix(a, fmt.Sprintf("put %d ", i)) {
				return strings.HasSuffix(a, " ok")
			}
		case <-late:
			return false
		}
	}
}
