package kernel

import (
	"maps"
	"math"

	"golang.org/x/sys/unix"
)

// How the value of an integer option is kept.
type optKind uint8

const (
	optInt optKind = iota
	optBool
	optBuffer   // SO_SNDBUF, SO_RCVBUF: kept doubled, as Linux does
	optReadOnly // setting it fails
)

// optSpec is an integer option that every socket of some families has.
type optSpec struct {
	kind optKind
	dflt int32
	// inet: only AF_INET and AF_INET6 sockets have it; tcp, udp: only those of TCP, UDP.
	inet, tcp, udp bool
	// low and high bound what may be set, unless both are 0.
	low, high int
}

const (
	minSendBuffer = 4608
	minRecvBuffer = 2304
	defaultBuffer = 212992  // net.core.wmem_default
	maxBuffer     = 4194304 // net.core.wmem_max
)

// intOptions are the options that are kept as one integer. Those with a meaning
// are looked up where they mean something; the others only tune what is not
// modelled (timing, sizes of packets) and read back as set.
var intOptions = map[optKey]optSpec{
	{unix.SOL_SOCKET, unix.SO_DEBUG}:                {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_REUSEADDR}:            {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_REUSEPORT}:            {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_KEEPALIVE}:            {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_DONTROUTE}:            {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_BROADCAST}:            {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_OOBINLINE}:            {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_NO_CHECK}:             {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_PRIORITY}:             {kind: optInt},
	{unix.SOL_SOCKET, unix.SO_MARK}:                 {kind: optInt},
	{unix.SOL_SOCKET, unix.SO_BUSY_POLL}:            {kind: optInt},
	{unix.SOL_SOCKET, unix.SO_INCOMING_NAPI_ID}:     {kind: optReadOnly},
	{unix.SOL_SOCKET, unix.SO_INCOMING_CPU}:         {kind: optInt},
	{unix.SOL_SOCKET, unix.SO_PASSCRED}:             {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_PASSSEC}:              {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_SNDBUF}:               {kind: optBuffer, dflt: defaultBuffer},
	{unix.SOL_SOCKET, unix.SO_RCVBUF}:               {kind: optBuffer, dflt: defaultBuffer},
	{unix.SOL_SOCKET, unix.SO_RCVLOWAT}:             {kind: optInt, dflt: 1},
	{unix.SOL_SOCKET, unix.SO_SNDLOWAT}:             {kind: optReadOnly, dflt: 1},
	{unix.IPPROTO_UDP, udpCork}:                     {kind: optBool, udp: true},
	{unix.IPPROTO_TCP, unix.TCP_NODELAY}:            {kind: optBool, tcp: true},
	{unix.IPPROTO_TCP, unix.TCP_CORK}:               {kind: optBool, tcp: true},
	{unix.IPPROTO_TCP, unix.TCP_QUICKACK}:           {kind: optBool, dflt: 1, tcp: true},
	{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE}:           {kind: optInt, dflt: 7200, tcp: true, low: 1, high: 32767},
	{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL}:          {kind: optInt, dflt: 75, tcp: true, low: 1, high: 32767},
	{unix.IPPROTO_TCP, unix.TCP_KEEPCNT}:            {kind: optInt, dflt: 9, tcp: true, low: 1, high: 127},
	{unix.IPPROTO_TCP, unix.TCP_SYNCNT}:             {kind: optInt, dflt: 6, tcp: true, low: 1, high: 127},
	{unix.IPPROTO_TCP, unix.TCP_LINGER2}:            {kind: optInt, dflt: 60, tcp: true},
	{unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT}:       {kind: optInt, tcp: true},
	{unix.IPPROTO_TCP, unix.TCP_WINDOW_CLAMP}:       {kind: optInt, tcp: true},
	{unix.IPPROTO_TCP, unix.TCP_MAXSEG}:             {kind: optInt, dflt: 1448, tcp: true, low: 88, high: 32767},
	{unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT}:       {kind: optInt, tcp: true, low: 0, high: math.MaxInt32},
	{unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT}:      {kind: optInt, tcp: true},
	{unix.IPPROTO_IP, unix.IP_TOS}:                  {kind: optInt, inet: true},
	{unix.IPPROTO_IP, unix.IP_TTL}:                  {kind: optInt, dflt: 64, inet: true, low: -1, high: 255},
	{unix.IPPROTO_IP, unix.IP_FREEBIND}:             {kind: optBool, inet: true},
	{unix.IPPROTO_IP, unix.IP_TRANSPARENT}:          {kind: optBool, inet: true},
	{unix.IPPROTO_IP, unix.IP_MTU_DISCOVER}:         {kind: optInt, dflt: 1, inet: true, low: 0, high: 5},
	{unix.IPPROTO_IP, unix.IP_RECVERR}:              {kind: optBool, inet: true},
	{unix.IPPROTO_IP, unix.IP_PKTINFO}:              {kind: optBool, inet: true},
	{unix.IPPROTO_IP, unix.IP_RECVTTL}:              {kind: optBool, inet: true},
	{unix.IPPROTO_IP, unix.IP_RECVTOS}:              {kind: optBool, inet: true},
	{unix.IPPROTO_IP, unix.IP_MULTICAST_TTL}:        {kind: optInt, dflt: 1, inet: true, low: -1, high: 255},
	{unix.IPPROTO_IP, unix.IP_MULTICAST_LOOP}:       {kind: optBool, dflt: 1, inet: true},
	{unix.IPPROTO_IP, unix.IP_MULTICAST_ALL}:        {kind: optBool, dflt: 1, inet: true},
	{unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT}: {kind: optBool, inet: true},
	{unix.IPPROTO_IPV6, unix.IPV6_V6ONLY}:           {kind: optBool, inet: true},
	{unix.IPPROTO_IPV6, unix.IPV6_TCLASS}:           {kind: optInt, inet: true, low: -1, high: 255},
	{unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS}:     {kind: optInt, dflt: 64, inet: true, low: -1, high: 255},
	{unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER}:     {kind: optInt, dflt: 1, inet: true, low: 0, high: 5},
	{unix.IPPROTO_IPV6, unix.IPV6_RECVERR}:          {kind: optBool, inet: true},
	{unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO}:      {kind: optBool, inet: true},
	{unix.IPPROTO_IPV6, unix.IPV6_RECVHOPLIMIT}:     {kind: optBool, inet: true},
	{unix.IPPROTO_IPV6, unix.IPV6_RECVTCLASS}:       {kind: optBool, inet: true},
	{unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS}:   {kind: optInt, dflt: 1, inet: true, low: -1, high: 255},
	{unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_LOOP}:   {kind: optBool, dflt: 1, inet: true},
	{unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_IF}:     {kind: optInt, inet: true},
	{unix.IPPROTO_IPV6, unix.IPV6_AUTOFLOWLABEL}:    {kind: optBool, dflt: 1, inet: true},
	{unix.IPPROTO_IPV6, unix.IPV6_DONTFRAG}:         {kind: optBool, inet: true},
	{unix.IPPROTO_IPV6, unix.IPV6_FREEBIND}:         {kind: optBool, inet: true},
}

// has reports whether the socket is of the families that have the option.
func (o optSpec) has(s *Sock) bool {
	isInet := s.Domain == unix.AF_INET || s.Domain == unix.AF_INET6
	return (!o.inet || isInet) && (!o.tcp || isInet && s.Type == unix.SOCK_STREAM) && (!o.udp || isInet && s.Type == unix.SOCK_DGRAM)
}

// Opt returns the value of an integer option.
func (s *Sock) Opt(level, name int) int {
	k := optKey{level, name}
	if v, ok := s.opts[k]; ok {
		return int(v)
	}
	return int(intOptions[k].dflt)
}

// HasIntOption reports whether the socket has an option kept as an integer.
func (s *Sock) HasIntOption(level, name int) bool {
	spec, ok := intOptions[optKey{level, name}]
	return ok && spec.has(s)
}

// IntOption is getsockopt(2) for the options kept as integers.
func (s *Sock) IntOption(level, name int) (int, Errno) {
	if !s.HasIntOption(level, name) {
		return 0, unix.ENOPROTOOPT
	}
	return s.Opt(level, name), 0
}

// SetIntOption is setsockopt(2) for the options kept as integers.
func (s *Sock) SetIntOption(level, name, v int) Errno {
	k := optKey{level, name}
	spec := intOptions[k]
	if !s.HasIntOption(level, name) || spec.kind == optReadOnly {
		return unix.ENOPROTOOPT
	}
	if (spec.low != 0 || spec.high != 0) && (v < spec.low || v > spec.high) {
		return unix.EINVAL
	}
	switch spec.kind {
	case optBool:
		if v != 0 {
			v = 1
		}
	case optBuffer:
		low := minSendBuffer
		if name == unix.SO_RCVBUF {
			low = minRecvBuffer
		}
		v = max(min(v, maxBuffer)*2, low)
	}
	s.opts[k] = int32(v)
	return 0
}

// KeepOption remembers an option that has no effect; KeptOption returns it.
func (s *Sock) KeepOption(level, name int, value []byte) {
	s.others[optKey{level, name}] = append([]byte(nil), value...)
}

func (s *Sock) KeptOption(level, name int) ([]byte, bool) {
	v, ok := s.others[optKey{level, name}]
	return v, ok
}

// inherit takes over the options of a listener, as an accepted socket does.
func (s *Sock) inherit(from *Sock) {
	s.opts, s.others = maps.Clone(from.opts), maps.Clone(from.others)
	s.RecvTimeout, s.SendTimeout = from.RecvTimeout, from.SendTimeout
	s.Linger, s.LingerOn, s.UID = from.Linger, from.LingerOn, from.UID
}
