package native

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// Way is a direction in which packets go: from one machine to another, by their numbers.
type Way struct{ From, To int }

// cuts are the ways of a Lab on which packets are lost. Where a machine is the end of such a way,
// a filter on the lab's side of its link drops what comes from the machines at the beginning, by
// their hardware addresses. Programs see nothing of it: for them the packets were sent.
type cuts struct {
	lost    map[Way]int  // how many cuts there are
	filters map[int]bool // the link of a machine has a filter
}

// Cut has packets lost that go some ways, until Join with the same ways. Several cuts may have a
// way in common. Machines keep their hardware addresses when they start again, so a cut lasts.
//
// Machines still find out each other's hardware addresses (ARP, IPv6 neighbour discovery). Without
// that, after some seconds, packets would be lost in the other direction, too.
func (l *Lab) Cut(ways []Way) error { return l.change(ways, 1) }

// Join ends what Cut has begun.
func (l *Lab) Join(ways []Way) error { return l.change(ways, -1) }

// TryCut says why machines cannot be cut off, before there are any.
func (l *Lab) TryCut() error {
	return l.run(func() error {
		return tc(dropAt(bridge, []int{0}) + restore(bridge))
	})
}

func (l *Lab) change(ways []Way, by int) error {
	return l.run(func() error {
		var ends []int
		for _, w := range ways {
			if l.lost[w] += by; l.lost[w] == 0 {
				delete(l.lost, w)
			}
			ends = append(ends, w.To)
		}
		slices.Sort(ends)
		return l.filter(slices.Compact(ends)...)
	})
}

// filter has the links of machines lose what is to be lost on the way to them.
func (l *Lab) filter(numbers ...int) error {
	for {
		ends := slices.DeleteFunc(slices.Clone(numbers), func(n int) bool { return !l.linked(n) })
		orders := ""
		for _, n := range ends {
			if from := l.lostTo(n); len(from) > 0 {
				l.filters[n] = true
				orders += dropAt(l.link[n], from)
			} else if l.filters[n] {
				orders += restore(l.link[n])
			}
		}
		if orders == "" {
			return nil
		}
		err := tc(orders)
		if err == nil {
			for _, n := range ends {
				l.filters[n] = len(l.lostTo(n)) > 0
			}
			return nil
		}
		if !slices.ContainsFunc(ends, func(n int) bool { return !l.linked(n) }) {
			return err
		}
		// A machine has ended meanwhile, and tc has stopped there. The orders may be given again.
	}
}

// lostTo are the machines whose packets to another one are lost.
func (l *Lab) lostTo(number int) (from []int) {
	for w := range l.lost {
		if w.To == number {
			from = append(from, w.From)
		}
	}
	slices.Sort(from)
	return from
}

// dropAt are the orders to tc to drop what comes from machines at a link.
func dropAt(link string, from []int) string {
	return fmt.Sprintf("qdisc replace dev %s clsact\n", link) +
		fmt.Sprintf("filter replace dev %s egress protocol all prio 1 handle 1 bpf da bytecode %q\n", link, dropFrom(from))
}

// restore are the orders to drop nothing any more, also where that was done.
func restore(link string) string {
	return fmt.Sprintf("qdisc replace dev %[1]s clsact\nqdisc del dev %[1]s clsact\n", link)
}

// tc runs the command tc, with one order in each line.
func tc(orders string) error {
	cmd := exec.Command("tc", "-batch", "-")
	cmd.Stdin = strings.NewReader(orders)
	if out, err := cmd.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		return errors.New("a cut needs the command tc (in Debian the package iproute2)")
	} else if err != nil {
		return fmt.Errorf("tc: %w: %s: a cut needs a kernel with CONFIG_NET_SCH_INGRESS and CONFIG_NET_CLS_BPF", err,
			strings.Join(strings.Fields(string(out)), " "))
	}
	return nil
}

// dropFrom is a program of classic BPF, as tc takes it, that drops frames of machines by their
// numbers. It lets pass by which machines find out hardware addresses.
func dropFrom(numbers []int) string {
	const (
		loadHalf, loadByte, ret     = 0x28, 0x30, 0x06 // absolute loads
		ifEqual, ifAtLeast, ifAbove = 0x15, 0x35, 0x25
		pass, drop                  = 1<<32 - 1, 2 // TC_ACT_UNSPEC, TC_ACT_SHOT
		source, kind, next, icmp    = 10, 12, 20, 54
		arp, ipv6, icmp6            = 0x0806, 0x86dd, 58
		solicit, redirect           = 133, 137 // the types of neighbour discovery
	)
	type op struct{ code, then, els, k int }
	all := []op{
		{loadHalf, 0, 0, kind},
		{ifEqual, 6, 0, arp}, // to the first pass
		{ifEqual, 0, 6, ipv6},
		{loadByte, 0, 0, next},
		{ifEqual, 0, 4, icmp6},
		{loadByte, 0, 0, icmp},
		{ifAtLeast, 0, 2, solicit},
		{ifAbove, 1, 0, redirect},
		{ret, 0, 0, pass},
		{loadHalf, 0, 0, source},
	}
	for i, n := range numbers {
		all = append(all, op{ifEqual, len(numbers) - i, 0, n}) // to drop
	}
	all = append(all, op{ret, 0, 0, pass}, op{ret, 0, 0, drop})
	text := fmt.Sprint(len(all))
	for _, o := range all {
		text += fmt.Sprintf(",%d %d %d %d", o.code, o.then, o.els, o.k)
	}
	return text
}
