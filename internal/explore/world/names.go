package world

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
)

// Names gives each action a name that means the same in every execution:
//
//	start n2
//	deliver n1:40001>n2:2380 #3          third message of that direction
//	deliver n1:40001>n2:2380@1 #1        of the second connection with these addresses
//	deliver udp n1:5353>n2:5353 #3       a datagram
//	deliver udp n1:5353>10.0.0.255:5353 #3 to n2
//	event n1 #3                          third event that a program of it has told of
//	event n1@1 #3                        since the machine was switched on again
//	synced n1 #3                         end of its third sync that takes time
//	timer n3
//	slow n1|n2+n3 by 2s for 15s          what happens to the network
//	timer n3 with fail:EIO@7/fsync:/node/wal#2   varied (ariadne.Variation)
//
// A node's first address is printed as the node's name, others as they are.
type Names struct {
	nodes      []string
	addrs      []netip.Addr // the first of each node, or the zero Addr
	owner      map[netip.Addr]ariadne.NodeID
	partitions []*Partition
}

// NewNames are the names in a system of these nodes.
func NewNames(nodes []Node, partitions []*Partition) Names {
	n := Names{owner: map[netip.Addr]ariadne.NodeID{}, partitions: partitions}
	for i, node := range nodes {
		n.nodes = append(n.nodes, node.Name)
		n.addrs = append(n.addrs, netip.Addr{})
		for j, a := range node.Addrs {
			n.owner[a] = ariadne.NodeID(i)
			if j == 0 {
				n.addrs[i] = a
			}
		}
	}
	return n
}

// Node returns a node's name, or "" for NoNode.
func (n Names) Node(id ariadne.NodeID) string {
	if id < 0 || int(id) >= len(n.nodes) {
		return ""
	}
	return n.nodes[id]
}

// Owner is the node with an address, or NoNode.
func (n Names) Owner(a netip.Addr) ariadne.NodeID {
	if id, ok := n.owner[a]; ok {
		return id
	}
	return ariadne.NoNode
}

// Action returns a's name.
func (n Names) Action(a ariadne.Action) string {
	k := &kinds[a.Kind]
	name := k.Name + " " + k.Format(n, a)
	if a.Vary != "" {
		name += with + string(a.Vary)
	}
	return name
}

// with stands before a variation.
const with = " with "

func (n Names) addr(a netip.AddrPort) string {
	if id, ok := n.owner[a.Addr()]; ok && n.addrs[id] == a.Addr() {
		return n.nodes[id] + ":" + strconv.Itoa(int(a.Port()))
	}
	return a.String()
}

// Parse is the inverse of Action.
func (n Names) Parse(name string) (ariadne.Action, error) {
	a, err := n.parse(name)
	if err == nil && n.Action(a) != name {
		err = fmt.Errorf("its name is %q", n.Action(a))
	}
	if err != nil {
		return ariadne.Action{}, fmt.Errorf("bad action %q: %w", name, err)
	}
	return a, nil
}

func (n Names) parse(name string) (ariadne.Action, error) {
	vary := ""
	if i := strings.LastIndex(name, with); i >= 0 {
		name, vary = name[:i], name[i+len(with):]
	}
	word, rest, _ := strings.Cut(name, " ")
	kind, ok := KindNamed(word)
	if !ok || !kinds[kind].hasEvents() {
		return ariadne.Action{}, fmt.Errorf("want %s", KindNames())
	}
	a, err := kinds[kind].Parse(n, rest)
	if err == nil {
		e := Event{Kind: a.Kind}
		e, err = e.VariedAs(ariadne.Variation(vary))
		a.Vary = e.Varied.Variation()
	}
	return a, err
}

func (n Names) ofNode(k ariadne.ActionKind, name string) (ariadne.Action, error) {
	id, err := n.parseNode(name)
	return ariadne.Action{Kind: k, Node: id}, err
}

func (n Names) parseNode(name string) (ariadne.NodeID, error) {
	if i := slices.Index(n.nodes, name); i >= 0 {
		return ariadne.NodeID(i), nil
	}
	return ariadne.NoNode, fmt.Errorf("no node %q", name)
}

// parseDelivery reads [udp] SRC>DST[@EPOCH] #SEQ [to NODE].
func (n Names) parseDelivery(s string) (a ariadne.Action, err error) {
	a = ariadne.Action{Kind: ariadne.ActDeliver, Flow: ariadne.Flow{Proto: ariadne.TCP}}
	words := strings.Fields(s)
	if len(words) > 0 && words[0] == "udp" {
		a.Flow.Proto, words = ariadne.UDP, words[1:]
	}
	if len(words) != 2 && len(words) != 4 {
		return a, fmt.Errorf("want SOURCE>DESTINATION #NUMBER")
	}
	if a.Flow, err = n.parseFlow(a.Flow.Proto, words[0]); err != nil {
		return a, err
	}
	if a.Seq, err = strconv.Atoi(strings.TrimPrefix(words[1], "#")); err != nil {
		return a, fmt.Errorf("bad number %q", words[1])
	}
	if len(words) == 4 {
		a.Node, err = n.parseNode(words[3])
		return a, err
	}
	id, ok := n.owner[a.Flow.Dst.Addr()]
	if !ok {
		return a, fmt.Errorf("no node has the address %s", a.Flow.Dst.Addr())
	}
	a.Node = id
	return a, nil
}

func (n Names) parseFlow(p ariadne.Protocol, s string) (f ariadne.Flow, err error) {
	f.Proto = p
	src, rest, _ := strings.Cut(s, ">")
	dst, epoch, hasEpoch := strings.Cut(rest, "@")
	if hasEpoch {
		if f.Epoch, err = strconv.Atoi(epoch); err != nil {
			return f, fmt.Errorf("bad epoch %q", epoch)
		}
	}
	if f.Src, err = n.parseAddr(src); err != nil {
		return f, err
	}
	f.Dst, err = n.parseAddr(dst)
	return f, err
}

func (n Names) parseAddr(s string) (netip.AddrPort, error) {
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		if id, err := n.parseNode(s[:i]); err == nil && n.addrs[id].IsValid() {
			port, err := strconv.ParseUint(s[i+1:], 10, 16)
			if err != nil {
				return netip.AddrPort{}, fmt.Errorf("bad port %q", s[i+1:])
			}
			return netip.AddrPortFrom(n.addrs[id], uint16(port)), nil
		}
	}
	a, err := netip.ParseAddrPort(s)
	if err != nil {
		return a, fmt.Errorf("bad address %q", s)
	}
	return a, nil
}
