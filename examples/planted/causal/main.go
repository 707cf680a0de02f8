// Command causal is a forum on four servers. A server sends each post to the others.
//
//	causal serve [careless] ME PEER...
//	causal client SERVER...
//
// A server shows a post when it has shown all that its writer had seen; those posts are named
// in it. A careless one asks only for the earlier posts of the same writer. The client writes a
// question at the first server, an answer at the second as soon as it reads the question there,
// thanks at the third, and waits for them at the fourth.
package main

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"planted/lines"
)

func main() {
	args := os.Args[2:]
	if os.Args[1] == "client" {
		client(args)
		return
	}
	f := forum{}
	if args[0] == "careless" {
		f.careless, args = true, args[1:]
	}
	f.serve(args[0], args[1:])
}

type post struct{ writer, text, seen string }

type forum struct {
	careless bool
	mu       sync.Mutex
	peers    []*lines.Conn
	shown    []string
	waiting  []post
	readers  []*lines.Conn
}

// serve writes posts of its clients and shows those of all.
func (f *forum) serve(me string, peers []string) {
	handle := func(c *lines.Conn, words []string) {
		switch words[0] {
		case "read": // all there is, and what comes
			for _, text := range f.shown {
				c.Say("%s", text)
			}
			f.readers = append(f.readers, c)
		case "write":
			p := post{me, words[1], strings.Join(f.shown, ",")}
			for _, peer := range f.peers {
				peer.Say("post %s %s [%s]", p.writer, p.text, p.seen)
			}
			f.show(p)
		case "post":
			f.waiting = append(f.waiting, post{words[1], words[2], strings.Trim(words[3], "[]")})
		}
		for i := 0; i < len(f.waiting); i++ {
			if p := f.waiting[i]; f.ready(p) {
				f.waiting = append(f.waiting[:i], f.waiting[i+1:]...)
				f.show(p)
				i = -1
			}
		}
	}
	go lines.Serve(":7000", &f.mu, handle) // other servers
	for _, name := range peers {
		f.peers = append(f.peers, lines.Dial(name+":7000"))
	}
	lines.Serve(":8000", &f.mu, handle) // clients
}

func (f *forum) ready(p post) bool {
	if f.careless || p.seen == "" {
		return true // a connection keeps its order
	}
	for _, text := range strings.Split(p.seen, ",") {
		found := false
		for _, s := range f.shown {
			found = found || s == text
		}
		if !found {
			return false
		}
	}
	return true
}

func (f *forum) show(p post) {
	f.shown = append(f.shown, p.text)
	for _, r := range f.readers {
		r.Say("%s", p.text)
	}
}

func client(servers []string) {
	var conns []*lines.Conn
	for _, name := range servers {
		c := lines.Dial(name + ":8000")
		c.Say("read")
		conns = append(conns, c)
	}
	posts := []string{"question", "answer", "thanks"}
	heard := make([]int, len(conns))
	for i, text := range posts {
		conns[i].Say("write %s", text)
		for next := i + 1; heard[next] <= i; heard[next]++ { // until it has come there
			if words := conns[next].Hear(); words[0] != posts[heard[next]] {
				lines.Fail("server %d shows %s where %s should be", next+1, words[0], posts[heard[next]])
			}
		}
	}
	fmt.Println("read all")
}
