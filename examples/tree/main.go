// Command tree is an overlay tree with a maximum degree, as RandTree is in MaceMC's paper (NSDI
// 2007): each node but the root has a parent.
//
//	tree -name n2 -bootstrap n1 -degree 2 -wait 1s
//
// The bootstrap node is the root. Any other wants to join some time after its start, and asks the
// bootstrap node. A request goes up the tree to the root, and from there down to a node that has
// room. That node takes the one that asks for its child, makes a TCP connection to it, and says on
// it that it is the parent. The connection stays: when it ends, the child is gone, or the parent.
// A node that has lost its parent is the root of its subtree, and asks again. The recovery timer
// repeats requests until there is a parent. Nothing is kept on disk.
//
// Nodes write these lines:
//
//	root                      until "no longer root"
//	parent n1                 until "no parent"
//	child n3                  until "no child n3"
//
// Read next: node.go, links.go.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

var bugs = []string{"ignore-reply", "unscheduled", "known-child"}

func main() {
	name := flag.String("name", "n1", "this node's name, which others resolve")
	bootstrap := flag.String("bootstrap", "n1", "the node that others ask")
	degree := flag.Int("degree", 2, "children that a node may have")
	wait := flag.Duration("wait", time.Second, "time from the start until the node wants to join")
	bug := flag.String("bug", "", "plant a bug: "+strings.Join(bugs, ", "))
	flag.Parse()
	if *bug != "" && !slices.Contains(bugs, *bug) {
		fail(fmt.Errorf("no such bug: %s", *bug))
	}
	l, err := openLinks(*name)
	if err != nil {
		fail(err)
	}
	n := &node{links: l, bootstrap: *bootstrap, degree: *degree, bug: *bug, children: map[string]*link{}}
	n.run(*wait)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "tree:", err)
	os.Exit(1)
}
