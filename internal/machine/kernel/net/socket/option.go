package socket

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// optKind is how the value of an integer option is stored.
type optKind uint8

const (
	optInt optKind = iota
	optBool
	optFlag     // like optBool, but other values than 0 and 1 are refused
	optBuffer   // SO_SNDBUF, SO_RCVBUF: kept doubled, as Linux does
	optReadOnly // setting it fails
)

// optSpec is an integer option that every socket of some families has.
type optSpec struct {
	kind optKind
	dflt int32
	// inet: only AF_INET and AF_INET6 sockets have it, inet6: AF_INET6 alone; tcp, udp:
	// only those of TCP, UDP.
	inet, inet6, tcp, udp bool
	// low and high bound what may be set, unless both are 0.
	low, high int
	// short: fewer bytes than an int are taken for 0. full: no bytes are not (IPPROTO_IP).
	short, full bool
	// unseen: Linux shows or does something more for it, and nothing here does.
	unseen bool
	// fit says what a value is kept as, and which are refused for another reason.
	fit func(s *Sock, v int) (int, kernel.Errno)
}

// Options that package unix does not have.
const (
	UDPCork          = 1
	IPv6MulticastAll = 29
)

const (
	minSendBuffer = 4608
	minRecvBuffer = 2304
	defaultBuffer = 212992  // net.core.wmem_default
	maxBuffer     = 4194304 // net.core.wmem_max
	maxTCPBuffer  = 6291456 // net.ipv4.tcp_rmem
)

// intOptions are the options that are kept as one integer. Those with a meaning
// are looked up where they mean something; the others only tune what is not
// modelled (timing, sizes of packets) and read back as set.
var intOptions = map[optKey]optSpec{
	{unix.SOL_SOCKET, unix.SO_DEBUG}:            {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_REUSEADDR}:        {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_REUSEPORT}:        {kind: optBool, fit: fitReusePort},
	{unix.SOL_SOCKET, unix.SO_KEEPALIVE}:        {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_DONTROUTE}:        {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_BROADCAST}:        {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_OOBINLINE}:        {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_NO_CHECK}:         {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_PRIORITY}:         {kind: optInt},
	{unix.SOL_SOCKET, unix.SO_MARK}:             {kind: optInt},
	{unix.SOL_SOCKET, unix.SO_BUSY_POLL}:        {kind: optInt, low: 0, high: math.MaxInt32},
	{unix.SOL_SOCKET, unix.SO_PREFER_BUSY_POLL}: {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_BSDCOMPAT}:        {kind: optInt, fit: fitNothing},
	{unix.SOL_SOCKET, unix.SO_TIMESTAMP}:        {kind: optBool, unseen: true},
	{unix.SOL_SOCKET, unix.SO_TIMESTAMPNS}:      {kind: optBool, unseen: true},
	{unix.SOL_SOCKET, unix.SO_TIMESTAMP_NEW}:    {kind: optBool, unseen: true},
	{unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW}:  {kind: optBool, unseen: true},
	{unix.SOL_SOCKET, unix.SO_RXQ_OVFL}:         {kind: optBool, unseen: true},
	{unix.SOL_SOCKET, unix.SO_RCVMARK}:          {kind: optBool, unseen: true},
	{unix.SOL_SOCKET, unix.SO_WIFI_STATUS}:      {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_NOFCS}:            {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_SELECT_ERR_QUEUE}: {kind: optBool, unseen: true},
	{unix.SOL_SOCKET, unix.SO_BINDTOIFINDEX}:    {kind: optInt, low: 0, high: math.MaxInt32, unseen: true},
	{unix.SOL_SOCKET, unix.SO_BUF_LOCK}:         {kind: optInt, low: 0, high: 3},
	{unix.SOL_SOCKET, unix.SO_TXREHASH}: {kind: optInt, dflt: 1, tcp: true, low: -1, high: 1,
		fit: fitRehash},
	{unix.SOL_SOCKET, unix.SO_BPF_EXTENSIONS}:   {kind: optReadOnly, dflt: 64},
	{unix.SOL_SOCKET, unix.SO_INCOMING_NAPI_ID}: {kind: optReadOnly},
	{unix.SOL_SOCKET, unix.SO_INCOMING_CPU}:     {kind: optInt},
	{unix.SOL_SOCKET, unix.SO_PASSCRED}:         {kind: optBool, fit: fitPass},
	{unix.SOL_SOCKET, unix.SO_PASSSEC}:          {kind: optBool, fit: fitPass},
	{unix.SOL_SOCKET, unix.SO_SNDBUF}:           {kind: optBuffer, dflt: defaultBuffer},
	{unix.SOL_SOCKET, unix.SO_RCVBUF}:           {kind: optBuffer, dflt: defaultBuffer},
	{unix.SOL_SOCKET, unix.SO_RCVLOWAT}:         {kind: optInt, dflt: 1, fit: fitLowWater},
	{unix.SOL_SOCKET, unix.SO_SNDLOWAT}:         {kind: optReadOnly, dflt: 1},
	{unix.IPPROTO_UDP, UDPCork}:                 {kind: optBool, udp: true},
	{unix.IPPROTO_TCP, unix.TCP_NODELAY}:        {kind: optBool, tcp: true},
	{unix.IPPROTO_TCP, unix.TCP_CORK}:           {kind: optBool, tcp: true},
	{unix.IPPROTO_TCP, unix.TCP_QUICKACK}:       {kind: optBool, dflt: 1, tcp: true},
	{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE}:       {kind: optInt, dflt: 7200, tcp: true, low: 1, high: 32767},
	{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL}:      {kind: optInt, dflt: 75, tcp: true, low: 1, high: 32767},
	{unix.IPPROTO_TCP, unix.TCP_KEEPCNT}:        {kind: optInt, dflt: 9, tcp: true, low: 1, high: 127},
	{unix.IPPROTO_TCP, unix.TCP_SYNCNT}:         {kind: optInt, dflt: 6, tcp: true, low: 1, high: 127},
	{unix.IPPROTO_TCP, unix.TCP_LINGER2}:        {kind: optInt, dflt: 60, tcp: true, fit: fitLinger2},
	{unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT}:   {kind: optInt, tcp: true, fit: fitDeferAccept},
	{unix.IPPROTO_TCP, unix.TCP_WINDOW_CLAMP}:   {kind: optInt, tcp: true, fit: fitWindow},
	{unix.IPPROTO_TCP, unix.TCP_MAXSEG}:         {kind: optInt, tcp: true, low: 0, high: 32767, fit: fitSegment},
	{unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT}:   {kind: optInt, tcp: true, low: 0, high: math.MaxInt32},
	{unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT}:  {kind: optInt, tcp: true},
	{unix.IPPROTO_TCP, unix.TCP_FASTOPEN}: {kind: optInt, tcp: true, low: 0, high: math.MaxInt32,
		fit: fitFastOpen},
	{unix.IPPROTO_TCP, unix.TCP_THIN_LINEAR_TIMEOUTS}: {kind: optFlag, tcp: true},
	{unix.IPPROTO_TCP, unix.TCP_THIN_DUPACK}:          {kind: optInt, tcp: true, low: 0, high: 1, fit: fitNothing},
	{unix.IPPROTO_TCP, unix.TCP_INQ}:                  {kind: optFlag, tcp: true, unseen: true},
	{unix.IPPROTO_TCP, unix.TCP_TX_DELAY}: {kind: optInt, tcp: true, low: 0, high: math.MaxInt32,
		unseen: true},
	{unix.IPPROTO_IP, unix.IP_RECVOPTS}:        {kind: optBool, inet: true, unseen: true},
	{unix.IPPROTO_IP, unix.IP_RETOPTS}:         {kind: optBool, inet: true, unseen: true},
	{unix.IPPROTO_IP, unix.IP_RECVORIGDSTADDR}: {kind: optBool, inet: true, unseen: true},
	{unix.IPPROTO_IP, unix.IP_PASSSEC}:         {kind: optBool, inet: true},
	{unix.IPPROTO_IP, unix.IP_CHECKSUM}:        {kind: optBool, inet: true, unseen: true},
	{unix.IPPROTO_IP, unix.IP_MINTTL}: {kind: optInt, inet: true, full: true, low: 0, high: 255,
		unseen: true},
	{unix.IPPROTO_IP, unix.IP_TOS}: {kind: optInt, inet: true, fit: fitTOS},
	{unix.IPPROTO_IP, unix.IP_TTL}: {kind: optInt, dflt: 64, inet: true, full: true, low: -1,
		high: 255, fit: fitTTL},
	{unix.IPPROTO_IP, unix.IP_FREEBIND}:     {kind: optBool, inet: true, full: true},
	{unix.IPPROTO_IP, unix.IP_TRANSPARENT}:  {kind: optBool, inet: true, full: true},
	{unix.IPPROTO_IP, unix.IP_MTU_DISCOVER}: {kind: optInt, dflt: 1, inet: true, low: 0, high: 5},
	{unix.IPPROTO_IP, unix.IP_RECVERR}:      {kind: optBool, inet: true},
	{unix.IPPROTO_IP, unix.IP_PKTINFO}:      {kind: optBool, inet: true},
	{unix.IPPROTO_IP, unix.IP_RECVTTL}:      {kind: optBool, inet: true},
	{unix.IPPROTO_IP, unix.IP_RECVTOS}:      {kind: optBool, inet: true},
	{unix.IPPROTO_IP, unix.IP_MULTICAST_TTL}: {kind: optInt, dflt: 1, inet: true, full: true, low: -1,
		high: 255, fit: fitMulticastTTL},
	{unix.IPPROTO_IP, unix.IP_MULTICAST_LOOP}:       {kind: optBool, dflt: 1, inet: true, full: true},
	{unix.IPPROTO_IP, unix.IP_MULTICAST_ALL}:        {kind: optFlag, dflt: 1, inet: true, full: true},
	{unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT}: {kind: optBool, inet: true},
	{unix.IPPROTO_IPV6, unix.IPV6_V6ONLY}:           {kind: optBool, inet6: true, fit: fitV6Only},
	{unix.IPPROTO_IPV6, unix.IPV6_TCLASS}:           {kind: optInt, inet6: true, low: -1, high: 255, fit: fitClass},
	{unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS}: {kind: optInt, dflt: 64, inet6: true, low: -1, high: 255,
		fit: fitHops},
	{unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER}:    {kind: optInt, dflt: 1, inet6: true, low: 0, high: 5},
	{unix.IPPROTO_IPV6, unix.IPV6_RECVERR}:         {kind: optBool, inet6: true},
	{unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO}:     {kind: optBool, inet6: true},
	{unix.IPPROTO_IPV6, unix.IPV6_RECVHOPLIMIT}:    {kind: optBool, inet6: true},
	{unix.IPPROTO_IPV6, unix.IPV6_RECVTCLASS}:      {kind: optBool, inet6: true},
	{unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS}:  {kind: optInt, dflt: 1, inet6: true, fit: fitMulticastHops},
	{unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_LOOP}:  {kind: optFlag, dflt: 1, inet6: true},
	{unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_IF}:    {kind: optInt, inet6: true},
	{unix.IPPROTO_IPV6, IPv6MulticastAll}:          {kind: optBool, dflt: 1, inet6: true},
	{unix.IPPROTO_IPV6, unix.IPV6_AUTOFLOWLABEL}:   {kind: optBool, dflt: 1, inet6: true},
	{unix.IPPROTO_IPV6, unix.IPV6_DONTFRAG}:        {kind: optBool, inet6: true, short: true},
	{unix.IPPROTO_IPV6, unix.IPV6_2292PKTINFO}:     {kind: optBool, inet6: true, unseen: true},
	{unix.IPPROTO_IPV6, unix.IPV6_2292HOPOPTS}:     {kind: optBool, inet6: true, unseen: true},
	{unix.IPPROTO_IPV6, unix.IPV6_2292DSTOPTS}:     {kind: optBool, inet6: true, unseen: true},
	{unix.IPPROTO_IPV6, unix.IPV6_2292RTHDR}:       {kind: optBool, inet6: true, unseen: true},
	{unix.IPPROTO_IPV6, unix.IPV6_2292HOPLIMIT}:    {kind: optBool, inet6: true, unseen: true},
	{unix.IPPROTO_IPV6, unix.IPV6_RECVHOPOPTS}:     {kind: optBool, inet6: true, unseen: true},
	{unix.IPPROTO_IPV6, unix.IPV6_RECVRTHDR}:       {kind: optBool, inet6: true, unseen: true},
	{unix.IPPROTO_IPV6, unix.IPV6_RECVDSTOPTS}:     {kind: optBool, inet6: true, unseen: true},
	{unix.IPPROTO_IPV6, unix.IPV6_RECVPATHMTU}:     {kind: optBool, inet6: true, unseen: true},
	{unix.IPPROTO_IPV6, unix.IPV6_RECVORIGDSTADDR}: {kind: optBool, inet6: true, unseen: true},
	{unix.IPPROTO_IPV6, unix.IPV6_TRANSPARENT}:     {kind: optBool, inet6: true},
	{unix.IPPROTO_IPV6, unix.IPV6_FREEBIND}:        {kind: optBool, inet6: true},
}

// has reports whether the socket is of the families that have the option.
func (o optSpec) has(s *Sock) bool {
	isInet := s.Domain == unix.AF_INET || s.Domain == unix.AF_INET6
	return (!o.inet || isInet) && (!o.inet6 || s.Domain == unix.AF_INET6) &&
		(!o.tcp || isInet && s.Type == unix.SOCK_STREAM) && (!o.udp || isInet && s.Type == unix.SOCK_DGRAM)
}

// option is an integer option that was set. A socket has few of them, so that to look through them
// takes less than a map does: each step asks several times of each connection.
type option struct {
	optKey
	value int32
}

func (o option) compare(k optKey) int {
	return cmp.Or(cmp.Compare(o.level, k.level), cmp.Compare(o.name, k.name))
}

// Opt returns the value of an integer option.
func (s *Sock) Opt(level, name int) int {
	for i := range s.opts {
		if o := &s.opts[i]; o.name == name && o.level == level {
			return int(o.value)
		}
	}
	return int(intOptions[optKey{level, name}].dflt)
}

// SetOpt sets an integer option, without asking whether the program could.
func (s *Sock) SetOpt(level, name, v int) {
	k := optKey{level, name}
	i, found := slices.BinarySearchFunc(s.opts, k, option.compare)
	if !found {
		s.opts = slices.Insert(s.opts, i, option{optKey: k})
	}
	s.opts[i].value = int32(v)
}

// HasIntOption reports whether the socket has an option kept as an integer.
func (s *Sock) HasIntOption(level, name int) bool {
	spec, ok := intOptions[optKey{level, name}]
	return ok && spec.has(s)
}

// TakesShort reports whether n bytes, fewer than an int has, set the option to 0.
func (s *Sock) TakesShort(level, name, n int) bool {
	spec := intOptions[optKey{level, name}]
	return spec.short || level == unix.IPPROTO_IP && n == 0 && !spec.full
}

// IntOption is getsockopt(2) for the options kept as integers.
func (s *Sock) IntOption(level, name int) (int, kernel.Errno) {
	if !s.HasIntOption(level, name) {
		return 0, unix.ENOPROTOOPT
	}
	if level == unix.SOL_SOCKET && (name == unix.SO_PASSCRED || name == unix.SO_PASSSEC) {
		if _, e := fitPass(s, 0); e != 0 {
			return 0, e
		}
	}
	return s.Opt(level, name), 0
}

// SetIntOption is setsockopt(2) for the options kept as integers.
func (s *Sock) SetIntOption(level, name, v int) kernel.Errno {
	spec := intOptions[optKey{level, name}]
	if !s.HasIntOption(level, name) || spec.kind == optReadOnly {
		return unix.ENOPROTOOPT
	}
	if (spec.low != 0 || spec.high != 0) && (v < spec.low || v > spec.high) {
		return unix.EINVAL
	}
	if spec.fit != nil {
		var e kernel.Errno
		if v, e = spec.fit(s, v); e != 0 {
			return e
		}
	}
	switch spec.kind {
	case optFlag:
		if v != 0 && v != 1 {
			return unix.EINVAL
		}
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
	s.SetOpt(level, name, v)
	return 0
}

// Unseen reports whether a value, other than that of a socket on which nobody has set the option,
// would make Linux do more than is done here.
func (s *Sock) Unseen(level, name int) bool {
	spec := intOptions[optKey{level, name}]
	return spec.unseen && s.Opt(level, name) != int(spec.dflt)
}

// fitNothing: Linux takes the option, and forgets it.
func fitNothing(*Sock, int) (int, kernel.Errno) { return 0, 0 }

// fitRehash: -1 is the default of the network.
func fitRehash(_ *Sock, v int) (int, kernel.Errno) {
	if v < 0 {
		v = 1
	}
	return v, 0
}

// fitFastOpen: a listener answers no more such connections than it would queue of any kind.
func fitFastOpen(_ *Sock, v int) (int, kernel.Errno) { return min(v, MaxBacklog), 0 }

// fitWindow: 0 is no bound, and half of the least buffer the least one.
func fitWindow(_ *Sock, v int) (int, kernel.Errno) {
	if v == 0 {
		return 0, 0
	}
	return max(v, minRecvBuffer/2), 0
}

// fitLowWater: none is one byte, and a negative number is a great one; for TCP it is no
// more than half of the buffer.
func fitLowWater(s *Sock, v int) (int, kernel.Errno) {
	if v < 0 {
		v = math.MaxInt32
	}
	if s.Protocol == unix.IPPROTO_TCP {
		v = min(v, maxTCPBuffer/2)
	}
	return max(1, v), 0
}

// fitReusePort: only internet sockets share ports (Linux 6.13 and later).
func fitReusePort(s *Sock, v int) (int, kernel.Errno) {
	if v != 0 && s.Domain != unix.AF_INET && s.Domain != unix.AF_INET6 {
		return 0, unix.EOPNOTSUPP
	}
	return v, 0
}

// fitPass: only these families have something to pass (Linux 6.16 and later).
func fitPass(s *Sock, v int) (int, kernel.Errno) {
	if s.Domain != unix.AF_UNIX && s.Domain != unix.AF_NETLINK {
		return 0, unix.EOPNOTSUPP
	}
	return v, 0
}

// fitTOS: a byte, of which TCP keeps the two bits for itself that tell of congestion.
func fitTOS(s *Sock, v int) (int, kernel.Errno) {
	if s.Type == unix.SOCK_STREAM {
		v &^= 3
	}
	return v & 0xff, 0
}

// fitClass: as fitTOS, and -1 is the default.
func fitClass(s *Sock, v int) (int, kernel.Errno) { return fitTOS(s, max(0, v)) }

// fitTTL and fitHops: -1 is the default.
func fitTTL(s *Sock, v int) (int, kernel.Errno) {
	if v == 0 {
		return 0, unix.EINVAL
	}
	return fitHops(s, v)
}

func fitHops(_ *Sock, v int) (int, kernel.Errno) {
	if v == -1 {
		v = 64
	}
	return v, 0
}

func fitMulticastTTL(s *Sock, v int) (int, kernel.Errno) {
	if s.Type == unix.SOCK_STREAM {
		return 0, unix.EINVAL
	}
	if v == -1 {
		v = 1
	}
	return v, 0
}

// fitMulticastHops: TCP does not have the option.
func fitMulticastHops(s *Sock, v int) (int, kernel.Errno) {
	if s.Type == unix.SOCK_STREAM {
		return 0, unix.ENOPROTOOPT
	}
	if v < -1 || v > 255 {
		return 0, unix.EINVAL
	}
	return fitMulticastTTL(s, v)
}

// fitLinger2: 0 is the default, and nobody waits longer than two minutes.
func fitLinger2(_ *Sock, v int) (int, kernel.Errno) {
	switch {
	case v < 0:
		return -1, 0
	case v == 0:
		return 60, 0
	}
	return min(v, 120), 0
}

// fitSegment: 0 leaves it to the connection.
func fitSegment(_ *Sock, v int) (int, kernel.Errno) {
	if v != 0 && v < 88 {
		return 0, unix.EINVAL
	}
	return v, 0
}

// fitDeferAccept: the time in which so many SYNs would be sent again, which are 255 at most.
func fitDeferAccept(_ *Sock, v int) (int, kernel.Errno) {
	if v <= 0 {
		return 0, 0
	}
	timeout, period := 1, 1
	for sent := 1; v > period && sent < math.MaxUint8; sent++ {
		timeout = min(2*timeout, 120)
		period += timeout
	}
	return period, 0
}

// fitV6Only: a socket cannot change what it is bound to.
func fitV6Only(s *Sock, v int) (int, kernel.Errno) {
	if s.HasPort {
		return 0, unix.EINVAL
	}
	return v, 0
}

// KeepOption remembers an option that has no effect; KeptOption returns it.
func (s *Sock) KeepOption(level, name int, value []byte) {
	s.others[optKey{level, name}] = append([]byte(nil), value...)
}

func (s *Sock) KeptOption(level, name int) ([]byte, bool) {
	v, ok := s.others[optKey{level, name}]
	return v, ok
}

// Inherit takes over the options of a listener, as an accepted socket does.
func (s *Sock) Inherit(from *Sock) {
	s.opts, s.others = slices.Clone(from.opts), maps.Clone(from.others)
	s.RecvTimeout, s.SendTimeout = from.RecvTimeout, from.SendTimeout
	s.Linger, s.LingerOn, s.UID = from.Linger, from.LingerOn, from.UID
}
