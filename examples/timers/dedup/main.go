// Command dedup is a counter over UDP whose client sends each request twice.
//
//	dedup server [forgetful]
//	dedup client
//
// The server remembers the numbers of the requests, so that a copy changes nothing. A forgetful
// server drops a number 2.5 s after it came, when it looks at the next request.
package main

import (
	"fmt"
	"net"
	"os"
	"time"
)

const window = 2500 * time.Millisecond

func main() {
	if os.Args[1] == "client" {
		client()
		return
	}
	server(len(os.Args) > 2)
}

func server(forgetful bool) {
	conn, err := net.ListenPacket("udp", ":7000")
	check(err)
	seen, sum := map[int]time.Time{}, 0
	for b := make([]byte, 100); ; {
		n, from, err := conn.ReadFrom(b)
		check(err)
		var id, add int
		if _, err := fmt.Sscanf(string(b[:n]), "add %d %d", &id, &add); err != nil {
			continue
		}
		if forgetful {
			for k, at := range seen {
				if time.Since(at) > window {
					delete(seen, k)
				}
			}
		}
		if _, copied := seen[id]; !copied {
			seen[id] = time.Now()
			sum += add
		}
		_, err = conn.WriteTo(fmt.Appendf(nil, "sum %d %d", id, sum), from)
		check(err)
	}
}

func client() {
	time.Sleep(50 * time.Millisecond)
	conn, err := net.Dial("udp", "server:7000")
	check(err)
	want, b := 0, make([]byte, 100)
	for id := 1; id <= 4; id++ {
		want += id
		for range 2 {
			_, err = fmt.Fprintf(conn, "add %d %d", id, id)
			check(err)
		}
		for got := 0; got != id; {
			n, err := conn.Read(b)
			check(err)
			var sum int
			fmt.Sscanf(string(b[:n]), "sum %d %d", &got, &sum)
			if got == id && sum != want {
				fmt.Fprintf(os.Stderr, "the sum is %d after request %d and not %d\n", sum, id, want)
				os.Exit(1)
			}
		}
	}
	fmt.Println("added", want)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
