package sys

import (
	"fmt"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/tcp"

	"golang.org/x/sys/unix"
)

// option names a socket option.
type option struct{ level, name int }

// impossible are options whose success would promise what is not there: the
// error is that of a kernel built without them.
var impossible = map[option]kernel.Errno{
	{unix.IPPROTO_TCP, unix.TCP_ULP}:                 unix.ENOENT, // kernel TLS
	{unix.IPPROTO_TCP, unix.TCP_REPAIR}:              unix.EPERM,
	{unix.IPPROTO_TCP, unix.TCP_MD5SIG}:              unix.ENOPROTOOPT,
	{unix.IPPROTO_TCP, unix.TCP_ZEROCOPY_RECEIVE}:    unix.ENOPROTOOPT,
	{unix.IPPROTO_TCP, unix.TCP_FASTOPEN_CONNECT}:    unix.EOPNOTSUPP,
	{unix.IPPROTO_UDP, unix.UDP_SEGMENT}:             unix.ENOPROTOOPT,
	{unix.IPPROTO_UDP, unix.UDP_GRO}:                 unix.ENOPROTOOPT,
	{unix.IPPROTO_UDP, unix.UDP_ENCAP}:               unix.ENOPROTOOPT,
	{unix.SOL_SOCKET, unix.SO_ZEROCOPY}:              unix.EOPNOTSUPP,
	{unix.SOL_SOCKET, unix.SO_ATTACH_FILTER}:         unix.ENOPROTOOPT,
	{unix.SOL_SOCKET, unix.SO_DETACH_FILTER}:         unix.ENOENT, // there is none
	{unix.SOL_SOCKET, unix.SO_ATTACH_BPF}:            unix.EPERM,
	{unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF}: unix.EINVAL,
	{unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_EBPF}: unix.EPERM,
	{unix.SOL_SOCKET, unix.SO_PEERSEC}:               unix.ENOPROTOOPT,
	{unix.SOL_SOCKET, unix.SO_PEERPIDFD}:             unix.ENOPROTOOPT,
	{unix.IPPROTO_IP, unix.IP_HDRINCL}:               unix.ENOPROTOOPT,
	{unix.IPPROTO_IP, ipOriginalDst}:                 unix.ENOPROTOOPT,
	{unix.IPPROTO_IPV6, unix.IPV6_HDRINCL}:           unix.ENOPROTOOPT,
}

// readOnly are the options that only getsockopt knows, or only other kinds of sockets.
var readOnly = map[option]bool{
	{unix.SOL_SOCKET, unix.SO_TYPE}: true, {unix.SOL_SOCKET, unix.SO_PROTOCOL}: true,
	{unix.SOL_SOCKET, unix.SO_DOMAIN}: true, {unix.SOL_SOCKET, unix.SO_ERROR}: true,
	{unix.SOL_SOCKET, unix.SO_ACCEPTCONN}: true, {unix.SOL_SOCKET, unix.SO_PEERCRED}: true,
	{unix.SOL_SOCKET, unix.SO_PEERGROUPS}: true, {unix.SOL_SOCKET, unix.SO_SNDLOWAT}: true,
	{unix.SOL_SOCKET, unix.SO_COOKIE}: true, {unix.IPPROTO_TCP, unix.TCP_INFO}: true,
	{unix.SOL_SOCKET, unix.SO_PEERNAME}: true, {unix.SOL_SOCKET, unix.SO_MEMINFO}: true,
	{unix.SOL_SOCKET, unix.SO_NETNS_COOKIE}: true,
	{unix.IPPROTO_IP, unix.IP_MTU}:          true, {unix.IPPROTO_IP, unix.IP_PKTOPTIONS}: true,
	{unix.IPPROTO_IP, unix.IP_NODEFRAG}:  true,
	{unix.IPPROTO_TCP, unix.TCP_CC_INFO}: true, {unix.IPPROTO_TCP, unix.TCP_SAVED_SYN}: true,
	{unix.IPPROTO_IPV6, unix.IPV6_CHECKSUM}: true, {unix.IPPROTO_IPV6, unix.IPV6_NEXTHOP}: true,
	{unix.IPPROTO_IPV6, unix.IPV6_AUTHHDR}: true, {unix.IPPROTO_IPV6, unix.IPV6_PATHMTU}: true,
}

const ipOriginalDst = 80 // SO_ORIGINAL_DST of netfilter

func optionName(call string, o option) string {
	level := map[int]string{unix.SOL_SOCKET: "SOL_SOCKET", unix.IPPROTO_IP: "IPPROTO_IP",
		unix.IPPROTO_TCP: "IPPROTO_TCP",
		unix.IPPROTO_UDP: "IPPROTO_UDP", unix.IPPROTO_IPV6: "IPPROTO_IPV6"}[o.level]
	if level == "" {
		level = fmt.Sprint(o.level)
	}
	return fmt.Sprintf("%s %s %d", call, level, o.name)
}

// sysSetsockopt implements setsockopt(2).
func sysSetsockopt(t *kernel.Thread, a Args) kernel.Result {
	s, _, e := socketOf(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	o := option{int(int32(a[1])), int(int32(a[2]))}
	size := int32(a[4])
	if size < 0 || size > 1<<16 {
		return kernel.Fail(unix.EINVAL)
	}
	v, e := readBytes(t, a[3], int(size))
	if e != 0 {
		return kernel.Fail(e)
	}
	return kernel.RetOr(0, setOption(t, s, o, v))
}

func setOption(t *kernel.Thread, s socket.Socket, o option, v []byte) kernel.Errno {
	switch {
	case o.level == unix.SOL_SOCKET && len(v) < 4 && o.name != unix.SO_BINDTODEVICE, tooShort(s.Base(), o, len(v)):
		return unix.EINVAL
	case o == option{unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS} &&
		s.Base().Protocol == unix.IPPROTO_TCP, readOnly[o] &&
		hasLevel(s.Base(), o.level), o.name < 0, !hasLevel(s.Base(), o.level) && s.Base().Domain != unix.AF_UNIX:
		return unix.ENOPROTOOPT
	}
	if e := impossible[o]; e != 0 {
		t.Node().Refuse(t, optionName("setsockopt", o), fmt.Sprintf("%x", v), true)
		return e
	}
	if o.level == unix.SOL_SOCKET {
		if e := setSocketOption(t, s.Base(), o.name, v); e != unix.ENOPROTOOPT {
			return e
		}
	}
	if e := s.SetOption(t, o.level, o.name, v); e != unix.ENOPROTOOPT {
		return e
	}
	if s.Base().HasIntOption(o.level, o.name) {
		n, e := intValue(v, o.level == unix.IPPROTO_IP)
		if e != 0 && s.Base().TakesShort(o.level, o.name, len(v)) {
			n, e = 0, 0
		}
		if e != 0 {
			return e
		}
		e = s.Base().SetIntOption(o.level, o.name, n)
		if e == 0 && s.Base().Unseen(o.level, o.name) {
			t.Node().Refuse(t, optionName("setsockopt", o), fmt.Sprintf("%x", v), true)
		}
		if c, ok := s.(*tcp.Socket); ok && e == 0 && o.level == unix.SOL_SOCKET && o.name == unix.SO_RCVLOWAT {
			c.LowWaterChanged()
		}
		return e
	}
	t.Node().Refuse(t, optionName("setsockopt", o), fmt.Sprintf("%x", v), true)
	s.Base().KeepOption(o.level, o.name, v)
	return 0
}

// tooShort reports whether an option of TCP or IPv6 has fewer bytes than an int, as all but those
// that are texts or headers need.
func tooShort(b *socket.Sock, o option, n int) bool {
	if n >= 4 || !hasLevel(b, o.level) || b.HasIntOption(o.level, o.name) || readOnly[o] {
		return false
	}
	switch o {
	case option{unix.IPPROTO_TCP, unix.TCP_CONGESTION}, option{unix.IPPROTO_TCP,
		unix.TCP_ULP}, option{unix.IPPROTO_IPV6, unix.IPV6_2292PKTOPTIONS},
		option{unix.IPPROTO_IPV6, unix.IPV6_HOPOPTS}, option{unix.IPPROTO_IPV6, unix.IPV6_RTHDRDSTOPTS},
		option{unix.IPPROTO_IPV6, unix.IPV6_RTHDR}, option{unix.IPPROTO_IPV6, unix.IPV6_DSTOPTS}:
		return false
	}
	return o.level == unix.IPPROTO_TCP || o.level == unix.IPPROTO_IPV6
}

// intValue is an option's value as an int; the options of IP may be one byte.
func intValue(v []byte, orByte bool) (int, kernel.Errno) {
	switch {
	case len(v) >= 4:
		return int(int32(le.Uint32(v))), 0
	case len(v) >= 1 && orByte:
		return int(v[0]), 0
	}
	return 0, unix.EINVAL
}

// setSocketOption sets the options of SOL_SOCKET that are not one integer.
func setSocketOption(t *kernel.Thread, b *socket.Sock, name int, v []byte) kernel.Errno {
	switch name {
	case unix.SO_BINDTODEVICE:
		if dev := unix.ByteSliceToString(v[:min(len(v), unix.IFNAMSIZ-1)]); dev != "" && dev != "lo" && dev != "eth0" {
			return unix.ENODEV
		}
		return unix.ENOPROTOOPT // kept, and reported
	case unix.SO_LINGER:
		if len(v) < 8 {
			return unix.EINVAL
		}
		b.LingerOn, b.Linger = le.Uint32(v) != 0, int(int32(le.Uint32(v[4:])))
	case unix.SO_RCVTIMEO, unix.SO_RCVTIMEO_NEW:
		return setSocketTimeout(&b.RecvTimeout, v)
	case unix.SO_SNDTIMEO, unix.SO_SNDTIMEO_NEW:
		return setSocketTimeout(&b.SendTimeout, v)
	case unix.SO_RCVBUFFORCE, unix.SO_SNDBUFFORCE:
		if !t.Capable(unix.CAP_NET_ADMIN) {
			return unix.EPERM
		}
		n, e := intValue(v, false)
		if e != 0 {
			return e
		}
		if name == unix.SO_RCVBUFFORCE {
			return b.SetIntOption(unix.SOL_SOCKET, unix.SO_RCVBUF, n)
		}
		return b.SetIntOption(unix.SOL_SOCKET, unix.SO_SNDBUF, n)
	default:
		return unix.ENOPROTOOPT
	}
	return 0
}

// setSocketTimeout reads a struct timeval; zero means no limit.
func setSocketTimeout(to *ariadne.Time, v []byte) kernel.Errno {
	if len(v) < 16 {
		return unix.EINVAL
	}
	sec, usec := int64(le.Uint64(v)), int64(le.Uint64(v[8:]))
	if usec < 0 || usec >= 1e6 {
		return unix.EDOM
	}
	switch {
	case sec < 0:
		*to = 1 // expires at once
	case sec > int64(ariadne.Never)/1e9-1:
		*to = 0
	default:
		*to = ariadne.Time(sec*int64(time.Second) + usec*int64(time.Microsecond))
	}
	return 0
}

// sysGetsockopt implements getsockopt(2).
func sysGetsockopt(t *kernel.Thread, a Args) kernel.Result {
	s, _, e := socketOf(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	size, e := readU32(t, a[4])
	if e != 0 {
		return kernel.Fail(e)
	}
	if int32(size) < 0 {
		return kernel.Fail(unix.EINVAL)
	}
	v, e := getOption(t, s, option{int(int32(a[1])), int(int32(a[2]))})
	if e != 0 {
		return kernel.Fail(e)
	}
	if int(int32(a[1])) == unix.IPPROTO_IP && size > 0 && size < 4 && len(v) == 4 && v[1]|v[2]|v[3] == 0 {
		size = 1 // ip(7) gives what fits into a byte as one
	}
	v = v[:min(len(v), int(size))]
	if e := t.M.WriteMem(a[3], v); e != 0 {
		return kernel.Fail(e)
	}
	return kernel.RetOr(0, writeU32(t, a[4], uint32(len(v))))
}

func getOption(t *kernel.Thread, s socket.Socket, o option) ([]byte, kernel.Errno) {
	if o.level == unix.SOL_SOCKET {
		if v := socketOption(s, o.name); v != nil {
			return v, 0
		}
	}
	if !hasLevel(s.Base(), o.level) {
		if d := s.Base().Domain; d == unix.AF_INET6 || d == unix.AF_NETLINK {
			return nil, unix.ENOPROTOOPT
		}
		return nil, unix.EOPNOTSUPP
	}
	if v, e := s.GetOption(t, o.level, o.name); e != unix.ENOPROTOOPT {
		return v, e
	}
	if n, e := s.Base().IntOption(o.level, o.name); e != unix.ENOPROTOOPT {
		return intBytes(n), e
	}
	if v, ok := s.Base().KeptOption(o.level, o.name); ok {
		return v, 0
	}
	t.Node().Refuse(t, optionName("getsockopt", o), "", true)
	return nil, unix.ENOPROTOOPT
}

// hasLevel reports whether a socket has options of a level.
func hasLevel(b *socket.Sock, level int) bool {
	inet := b.Domain == unix.AF_INET || b.Domain == unix.AF_INET6
	switch level {
	case unix.SOL_SOCKET:
		return true
	case unix.IPPROTO_IP:
		return inet
	case unix.IPPROTO_IPV6:
		return b.Domain == unix.AF_INET6
	case unix.IPPROTO_TCP, unix.IPPROTO_UDP:
		return inet && b.Protocol == level
	}
	return b.Domain != unix.AF_UNIX && !inet // NETLINK and others have levels of their own
}

// socketOption is the value of an option of SOL_SOCKET that all sockets have and
// that is not kept as one integer, or nil.
func socketOption(s socket.Socket, name int) []byte {
	b := s.Base()
	switch name {
	case unix.SO_BINDTODEVICE:
		if v, ok := b.KeptOption(unix.SOL_SOCKET, name); ok {
			return v
		}
		return []byte{}
	case unix.SO_ERROR:
		return intBytes(int(b.TakeError()))
	case unix.SO_TYPE:
		return intBytes(b.Type)
	case unix.SO_PROTOCOL:
		return intBytes(b.Protocol)
	case unix.SO_DOMAIN:
		return intBytes(b.Domain)
	case unix.SO_COOKIE:
		return le.AppendUint64(nil, b.ID)
	case unix.SO_ACCEPTCONN:
		if l, ok := s.(socket.Listener); ok && l.Listening() {
			return intBytes(1)
		}
		return intBytes(0)
	case unix.SO_LINGER:
		on := 0
		if b.LingerOn {
			on = 1
		}
		return append(intBytes(on), intBytes(b.Linger)...)
	case unix.SO_RCVTIMEO, unix.SO_RCVTIMEO_NEW:
		return timevalBytes(b.RecvTimeout)
	case unix.SO_SNDTIMEO, unix.SO_SNDTIMEO_NEW:
		return timevalBytes(b.SendTimeout)
	}
	return nil
}

func timevalBytes(d ariadne.Time) []byte {
	b := le.AppendUint64(nil, uint64(d)/1e9)
	return le.AppendUint64(b, uint64(d)%1e9/1e3)
}
