// Command raftkv is a small replicated key-value store on hashicorp/raft, and
// the client that checks it.
//
//	raftkv serve -id n1 -peers n1,n2,n3 -dir data
//	raftkv client -peers n1,n2,n3 -writes 5
//
// Every node listens on two ports: 7000 for raft, 8000 for clients. A client
// sends one line and gets one line back:
//
//	set CLIENT SEQ KEY VALUE   ok
//	get KEY                    ok VALUE
//	peek KEY                   ok VALUE   (this node's own copy, perhaps old)
//
// or "moved NODE" (ask that node), or "error WHY" (the outcome is unknown).
//
// Read next: server.go (what a node answers), store.go (what is replicated),
// client.go (what must hold).
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

const (
	raftPort   = ":7000"
	clientPort = ":8000"
)

func main() {
	if len(os.Args) < 2 {
		usage()
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	peers := flags.String("peers", "n1,n2,n3", "names of the nodes, separated by commas")
	switch os.Args[1] {
	case "serve":
		id := flags.String("id", "", "name of this node")
		dir := flags.String("dir", "", "directory of the log; empty keeps it in memory")
		bug := flags.String("bug", "", "plant a bug: early-ack")
		flags.Parse(os.Args[2:])
		if *bug != "" && *bug != "early-ack" {
			fail(2, "no such bug: %s", *bug)
		}
		if err := serve(*id, strings.Split(*peers, ","), *dir, *bug == "early-ack"); err != nil {
			fail(1, "%v", err)
		}
	case "client":
		writes := flags.Int("writes", 5, "how many values to write")
		flags.Parse(os.Args[2:])
		if err := check(strings.Split(*peers, ","), *writes); err != nil {
			fail(1, "%v", err)
		}
	default:
		usage()
	}
}

func usage() {
	fail(2, "usage: raftkv serve|client [flags]")
}

func fail(status int, format string, args ...any) {
	fmt.Fprintf(os.Stderr, "raftkv: "+format+"\n", args...)
	os.Exit(status)
}
