package kernel

import (
	"crypto/sha256"
	"fmt"
)

// BootID is what random(4) shows as boot_id on the node of a name: another one each time that the
// machine is switched on.
func BootID(name string, boots int) string {
	of := "boot of " + name
	if boots > 0 {
		of = fmt.Sprintf("boot %d of %s", boots+1, name)
	}
	b := sha256.Sum256([]byte(of))
	return fmt.Sprintf("%x-%x-4%03x-a%03x-%x\n", b[:4], b[4:6], uint16(b[6])<<4|uint16(b[7])>>4,
		uint16(b[8])<<4|uint16(b[9])>>4, b[10:16])
}

// UTS are the names of a node that programs can set (uname(2)); they are the spec's at first.
type UTS struct {
	host, domain string
	setHost      bool
}

var uts = NewSlot[*Node, UTS]()

// HostName is the name that the node has given itself.
func (n *Node) HostName() string {
	if u := uts.Peek(n); u != nil && u.setHost {
		return u.host
	}
	return n.Name
}

// DomainName is its NIS domain.
func (n *Node) DomainName() string {
	if u := uts.Peek(n); u != nil && u.domain != "" {
		return u.domain
	}
	return "(none)"
}

// SetHostName and SetDomainName are sethostname(2) and setdomainname(2). Other nodes know the node
// by the spec's name all the same.
func (n *Node) SetHostName(name string)   { *uts.Of(n) = UTS{name, uts.Of(n).domain, true} }
func (n *Node) SetDomainName(name string) { uts.Of(n).domain = name }
