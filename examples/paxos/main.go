// Command paxos is multi-Paxos on a few nodes that agree on a bounded number of
// decrees, and the client that checks it.
//
//	paxos serve -id 1 -nodes n1,n2,n3 -dir data -decrees 2 -election 300ms
//	paxos client -nodes n1,n2,n3 -values x1,x2
//
// Each node is proposer, acceptor and learner. It writes its events to standard
// output:
//
//	promised ballot=3.1               no lower ballot will be accepted
//	accepted slot=2 ballot=3.1 value=x
//	refused ballot=2.3 promised=3.1
//	leader ballot=3.1                 a majority has promised
//	chosen slot=2 value=x             this node knows that a majority has accepted
//	state=primary ballot=3.1 decree=2 whenever one of the three is new
//
// A state is initializing, learning (what others have accepted or chosen),
// primary or secondary; a decree is the last slot up to which all are known.
//
// Read next: message.go, acceptor.go (what is on disk), node.go (proposer and
// learner), links.go (how messages travel), client.go (what must hold).
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

const (
	nodePort   = ":7000" // TCP, between nodes
	clientPort = ":8000" // UDP, between nodes and the client
)

func main() {
	if len(os.Args) < 2 {
		usage()
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	nodes := flags.String("nodes", "n1,n2,n3", "addresses of the nodes, separated by commas")
	var err error
	switch os.Args[1] {
	case "serve":
		var c config
		flags.IntVar(&c.id, "id", 1, "number of this node, from 1")
		flags.StringVar(&c.dir, "dir", "data", "directory of what the acceptor must not forget")
		flags.IntVar(&c.decrees, "decrees", 2, "how many slots there are")
		flags.DurationVar(&c.election, "election", 0, "a node that hears no leader for once to twice this time wants to lead; 0: never")
		flags.IntVar(&c.retries, "retries", 0, "how often a refused proposer tries again at once")
		flags.StringVar(&c.client, "client", "", "address of a client that is told of the decrees without having asked")
		flags.BoolVar(&c.mute, "mute", false, "tell clients nothing")
		flags.StringVar(&c.bug, "bug", "", "plant a bug: "+strings.Join(bugs, " or "))
		lead := flags.String("lead", "", "numbers of the nodes that want to lead from the start")
		propose := flags.String("propose", "", "the same, with values of their own to propose")
		flags.Parse(os.Args[2:])
		c.nodes = list(*nodes)
		c.propose = slices.Contains(list(*propose), strconv.Itoa(c.id))
		c.lead = c.propose || slices.Contains(list(*lead), strconv.Itoa(c.id))
		if c.bug != "" && !slices.Contains(bugs, c.bug) {
			fail(2, "no such bug: %s", c.bug)
		}
		if c.id < 1 || c.id > len(c.nodes) {
			fail(2, "there is no node %d", c.id)
		}
		err = serve(c)
	case "client":
		listen := flags.String("listen", "client", "this client's address")
		values := flags.String("values", "", "values to propose; none: only wait for what the nodes say")
		apart := flags.Bool("apart", false, "send each value in a packet of its own")
		tries := flags.Int("tries", 0, "how often to propose the values while nothing is heard; 0: without end")
		flags.Parse(os.Args[2:])
		err = check(*listen, list(*nodes), list(*values), *apart, *tries)
	default:
		usage()
	}
	if err != nil {
		fail(1, "%v", err)
	}
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}

func usage() {
	fail(2, "usage: paxos serve|client [flags]")
}

func fail(status int, format string, args ...any) {
	fmt.Fprintf(os.Stderr, "paxos: "+format+"\n", args...)
	os.Exit(status)
}
