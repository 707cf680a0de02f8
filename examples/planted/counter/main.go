// Command counter is a number kept by three replicas. Two clients add to it in turn.
//
//	counter replica
//	counter client -me N -reads N -writes N REPLICA...
//
// A client adds by reading the newest version from some replicas and writing the next one
// to some. With two and two of three, each reading meets the last writing. With one and
// two, a replica that has not heard of it yet may answer first, and an addition is lost.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync"

	"planted/lines"
)

const rounds = 2 // of each client

func main() {
	f := flag.NewFlagSet("counter", flag.ExitOnError)
	me := f.Int("me", 1, "1 or 2; 1 begins")
	reads := f.Int("reads", 2, "replicas to read from")
	writes := f.Int("writes", 2, "replicas to write to")
	f.Parse(os.Args[2:])
	if os.Args[1] == "replica" {
		replica()
	}
	c := client{answers: make(chan []string, 1000)}
	turns := make(chan int, 1)
	if *me == 1 {
		turns <- 0
	}
	go lines.Serve(":8000", &sync.Mutex{}, func(_ *lines.Conn, words []string) { turns <- number(words[0]) })
	for _, name := range f.Args() {
		c.dial(name)
	}
	other := lines.Dial(fmt.Sprintf("client%d:8000", 3-*me))
	for range rounds {
		added := <-turns + 1
		version, value := c.newest(*reads, "read")
		if value+1 != added {
			lines.Fail("%d additions and the number is %d", added, value+1)
		}
		c.newest(*writes, "write", version+1, value+1)
		other.Say("%d", added)
	}
	if *me == 1 {
		<-turns // so that the last one is not told in vain
	}
	fmt.Println("added", rounds)
}

// replica keeps the newest version that it was told.
func replica() {
	version, value := 0, 0
	lines.Serve(":7000", &sync.Mutex{}, func(c *lines.Conn, words []string) {
		if words[1] == "write" && number(words[2]) > version {
			version, value = number(words[2]), number(words[3])
		}
		c.Say("%s %d %d", words[0], version, value)
	})
}

type client struct {
	replicas []*lines.Conn
	answers  chan []string
	calls    int
}

func (c *client) dial(name string) {
	conn := lines.Dial(name + ":7000")
	c.replicas = append(c.replicas, conn)
	go func() {
		for {
			c.answers <- conn.Hear()
		}
	}()
}

// newest tells all replicas something and waits for the first n answers.
func (c *client) newest(n int, words ...any) (version, value int) {
	c.calls++
	for _, r := range c.replicas {
		r.Say("%d %s", c.calls, fmt.Sprintln(words...)[:len(fmt.Sprintln(words...))-1])
	}
	for n > 0 {
		a := <-c.answers
		if number(a[0]) != c.calls {
			continue // of an earlier call
		}
		n--
		if v := number(a[1]); v >= version {
			version, value = v, number(a[2])
		}
	}
	return version, value
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		lines.Fail("%v", err)
	}
	return n
}
