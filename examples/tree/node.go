package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

const recoveryTime = time.Second

type node struct {
	*links
	bootstrap string
	degree    int
	bug       string
	wants     bool // to join; until then nobody has asked it to
	request   int  // the last one
	isRoot    bool
	parent    *link // nil: none
	children  map[string]*link
	recovery  *time.Timer
}

func (n *node) run(wait time.Duration) {
	n.recovery = time.NewTimer(time.Hour)
	n.recovery.Stop()
	start := time.NewTimer(wait)
	if n.name == n.bootstrap {
		start.Stop()
		n.wants = true
		n.setRoot(true)
	}
	for {
		select {
		case <-start.C:
			n.wants = true
			n.join()
			n.recovery.Reset(recoveryTime)
		case <-n.recovery.C:
			if n.parent == nil {
				n.join()
				n.recovery.Reset(recoveryTime)
			}
		case e := <-n.events:
			switch {
			case e.link == nil:
				n.hear(e.line)
			case e.line == "":
				n.ended(e.link)
			default:
				n.hearOn(e.link, e.line)
			}
		}
	}
}

func (n *node) setRoot(root bool) {
	if root != n.isRoot {
		n.isRoot = root
		if root {
			fmt.Println("root")
		} else {
			fmt.Println("no longer root")
		}
	}
}

func (n *node) join() {
	n.request++
	n.send(n.bootstrap, fmt.Sprintf("join %s %d", n.name, n.request))
}

// hear handles a datagram: "join NAME REQUEST" on its way to the root, "down NAME REQUEST" on the
// way from there.
func (n *node) hear(line string) {
	words := strings.Fields(line)
	kind, origin, request := words[0], words[1], words[2]
	_, known := n.children[origin]
	switch {
	case !n.wants || origin == n.name:
		// Who asks will ask again.
	case kind == "join" && n.parent != nil:
		n.send(n.parent.peer, line)
	case kind == "join" && !n.isRoot:
	case known && n.bug == "known-child":
	case known || len(n.children) < n.degree:
		n.adopt(origin, request)
	default:
		names := make([]string, 0, len(n.children))
		for c := range n.children {
			names = append(names, c)
		}
		slices.Sort(names)
		n.send(names[rand.N(len(names))], strings.Replace(line, kind, "down", 1))
	}
}

// adopt takes a child. One that is a child already has started again, or has not heard of it.
func (n *node) adopt(child, request string) {
	old := n.children[child]
	if old != nil && !old.up {
		return // it will hear soon
	}
	if old == nil {
		fmt.Printf("child %s\n", child)
	}
	n.children[child] = n.connect(child, fmt.Sprintf("parent %s %s", n.name, request))
}

// hearOn handles a line on a link: "parent NAME REQUEST" from a node that takes this one for its
// child, "remove" from a child that has another parent.
func (n *node) hearOn(l *link, line string) {
	words := strings.Fields(line)
	switch words[0] {
	case "connected":
		l.up = true
	case "parent":
		name := words[1]
		l.peer = name
		// An answer to an earlier request may come from somewhere below this node by now.
		asked := n.wants && words[2] == fmt.Sprint(n.request)
		switch {
		case asked && (n.parent == nil || n.parent.peer == name):
			if n.parent == nil {
				fmt.Printf("parent %s\n", name)
			} else {
				n.parent.conn.Close()
			}
			n.parent = l
			n.setRoot(false)
			n.recovery.Stop()
		case !n.wants && n.bug == "ignore-reply":
			// It has not asked anybody, has it?
		default:
			l.say("remove")
		}
	case "remove":
		l.conn.Close()
	}
}

// ended handles the end of a link.
func (n *node) ended(l *link) {
	switch l {
	case n.children[l.peer]:
		delete(n.children, l.peer)
		fmt.Printf("no child %s\n", l.peer)
	case n.parent:
		n.parent = nil
		fmt.Println("no parent")
		n.setRoot(len(n.children) > 0)
		n.join()
		if n.bug != "unscheduled" || !n.isRoot {
			n.recovery.Reset(recoveryTime)
		}
	}
}
