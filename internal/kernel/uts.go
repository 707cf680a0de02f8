package kernel

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

// SetHostName and SetDomainName are sethostname(2) and setdomainname(2). Other nodes know the node by
// the spec's name all the same.
func (n *Node) SetHostName(name string)   { *uts.Of(n) = UTS{name, uts.Of(n).domain, true} }
func (n *Node) SetDomainName(name string) { uts.Of(n).domain = name }
