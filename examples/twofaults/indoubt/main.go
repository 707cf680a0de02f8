// Command indoubt commits transactions on two participants, in two phases.
//
//	indoubt coordinator
//	indoubt participant [careless] ME PEER
//	indoubt client
//
// A transaction of which the coordinator has no record is aborted ("presumed abort"). A
// participant that has voted for a transaction and hears no outcome asks the coordinator and
// its peer. A peer that has not voted for it yet aborts it, and says so. So a participant must
// keep each outcome. A careless one has it on its disk only until it is known, and later
// knows it from memory.
//
// The client begins one transaction after the other. In the end both participants must have
// committed the same ones, and all of which it was told so.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"twofaults/wire"
)

const (
	patience     = 400 * time.Millisecond
	transactions = 8
)

var participants = []string{"p1", "p2"}

func main() {
	switch args := os.Args[2:]; os.Args[1] {
	case "coordinator":
		coordinator()
	case "participant":
		careless := args[0] == "careless"
		if careless {
			args = args[1:]
		}
		participant(wire.Open(args[0]), args[1], careless)
	case "client":
		client()
	}
}

func coordinator() {
	n := wire.Open("coordinator")
	committed := wire.Load("committed")
	done := map[string]map[string]bool{} // by transaction: who knows that it is committed
	for _, t := range committed {
		done[t] = map[string]bool{}
	}
	now, votes, end := "", map[string]bool{}, time.Time{} // the transaction under way
	tick := time.Now().Add(patience / 2)
	outcome := func(t, what string) {
		for _, p := range participants {
			if !done[t][p] {
				n.Say(p, "%s %s", what, t)
			}
		}
	}
	for {
		w := n.Hear(tick)
		if w == nil {
			tick = time.Now().Add(patience / 2)
			if now != "" && time.Now().After(end) {
				t := now
				now = ""
				outcome(t, "abort")
				n.Say("client", "aborted %s", t)
			}
			for _, t := range committed {
				outcome(t, "commit")
			}
			continue
		}
		t := w[2]
		known := slices.Contains(committed, t)
		switch w[1] {
		case "begin":
			if known {
				n.Say("client", "committed %s", t)
			} else if now == "" {
				now, votes, end = t, map[string]bool{}, time.Now().Add(patience)
				for _, p := range participants {
					n.Say(p, "prepare %s", t)
				}
			}
		case "no":
			if now == t {
				now = ""
				outcome(t, "abort")
				n.Say("client", "aborted %s", t)
			}
		case "yes":
			if votes[w[0]] = now == t; len(votes) == 2 && now == t {
				now = ""
				committed = append(committed, t)
				wire.Save("committed", strings.Join(committed, "\n")+"\n")
				done[t] = map[string]bool{}
				fmt.Printf("decided %s\n", t)
				outcome(t, "commit")
				n.Say("client", "committed %s", t)
			}
		case "ask":
			if known {
				n.Say(w[0], "commit %s", t)
			} else if now != t {
				n.Say(w[0], "abort %s", t)
			}
		case "done":
			if known {
				done[t][w[0]] = true
			}
		}
	}
}

func participant(n *wire.Node, peer string, careless bool) {
	state := map[string]string{} // by transaction: prepared, committed, aborted
	var order, values []string
	save := func() {
		text := ""
		for _, t := range order {
			if !careless || state[t] != "committed" {
				text += t + " " + state[t] + "\n"
			}
		}
		for _, t := range values {
			text += t + " value\n"
		}
		wire.Save("state", text)
	}
	set := func(t, s string) {
		if state[t] == "" {
			order = append(order, t)
		}
		if state[t] = s; s == "committed" {
			values = append(values, t)
		}
		if s != "prepared" {
			fmt.Printf("outcome of %s: %s\n", t, s)
		}
		save()
	}
	for _, line := range wire.Load("state") {
		w := strings.Fields(line)
		if w[1] == "value" {
			values = append(values, w[0])
		} else {
			state[w[0]] = w[1]
			order = append(order, w[0])
		}
	}
	tick := time.Now().Add(patience)
	for {
		w := n.Hear(tick)
		if w == nil {
			tick = time.Now().Add(patience)
			for _, t := range order {
				if state[t] == "prepared" {
					n.Say("coordinator", "ask %s", t)
					n.Say(peer, "ask %s", t)
				}
			}
			continue
		}
		if w[1] == "read" {
			doubts := 0
			for _, s := range state {
				if s == "prepared" {
					doubts++
				}
			}
			n.Say(w[0], "values %d %s", doubts, strings.Join(values, " "))
			continue
		}
		switch t := w[2]; w[1] {
		case "prepare":
			if state[t] == "" {
				set(t, "prepared")
			}
			if state[t] == "prepared" {
				tick = time.Now().Add(patience)
				n.Say(w[0], "yes %s", t)
			} else {
				n.Say(w[0], "no %s", t)
			}
		case "commit":
			if state[t] == "prepared" {
				set(t, "committed")
			}
			n.Say("coordinator", "done %s", t)
		case "abort":
			if state[t] == "" || state[t] == "prepared" {
				set(t, "aborted")
			}
		case "ask":
			switch state[t] {
			case "":
				set(t, "aborted")
				n.Say(w[0], "abort %s", t)
			case "aborted":
				n.Say(w[0], "abort %s", t)
			case "committed":
				n.Say(w[0], "commit %s", t)
			}
		}
	}
}

func client() {
	n := wire.Open("client")
	told := []string{}
	for i := 1; i <= transactions; i++ {
		t := fmt.Sprintf("t%d", i)
		for known := false; !known; {
			n.Say("coordinator", "begin %s", t)
			until := time.Now().Add(1000 * time.Millisecond)
			for w := n.Hear(until); w != nil; w = n.Hear(until) {
				if w[2] == t {
					known = true
					if w[1] == "committed" {
						told = append(told, t)
					}
					break
				}
			}
		}
		time.Sleep(150 * time.Millisecond)
	}
	// The participants may learn of the last outcomes late, never of different ones.
	for {
		time.Sleep(500 * time.Millisecond)
		doubt1, p1 := read(n, "p1")
		doubt2, p2 := read(n, "p2")
		if doubt1 || doubt2 {
			continue
		}
		if !same(p1, p2) || !subset(told, p1) {
			wire.Fail("told of %v, p1 has %v, p2 has %v", told, p1, p2)
		}
		fmt.Println("both committed the same")
		return
	}
}

// read returns whether a participant is in doubt about a transaction, and what it has committed.
func read(n *wire.Node, p string) (bool, []string) {
	for {
		n.Say(p, "read")
		until := time.Now().Add(500 * time.Millisecond)
		for w := n.Hear(until); w != nil; w = n.Hear(until) {
			if w[0] == p {
				return w[2] != "0", w[3:]
			}
		}
	}
}

func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(t string) bool { return !slices.Contains(b, t) })
}

func same(a, b []string) bool { return subset(a, b) && subset(b, a) }
