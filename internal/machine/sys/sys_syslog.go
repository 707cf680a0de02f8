package sys

import (
	"math"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/tty"

	"golang.org/x/sys/unix"
)

// printk are how much goes to the console, of which the first number can be changed, and three
// others. A node's kernel has nothing to say.
var printk = kernel.NewSetting("kernel/printk", math.MinInt32, math.MaxInt32, 7, 4, 1, 7)

// Operations of syslog(2).
const (
	syslogClose = iota
	syslogOpen
	syslogRead
	syslogReadAll
	syslogReadClear
	syslogClear
	syslogConsoleOff
	syslogConsoleOn
	syslogConsoleLevel
	syslogUnread
	syslogSize
)

func sysSyslog(t *kernel.Thread, a Args) kernel.Result {
	const bufferSize = 256 << 10
	level, length := printk.All(t.Node()), int32(a[2])
	setLevel := func(v int64) { printk.Set(t.Node(), append([]int64{v}, level[1:]...)...) }
	if !t.Capable(unix.CAP_SYSLOG) { // as with dmesg_restrict
		return kernel.Fail(unix.EPERM)
	}
	switch int32(a[0]) {
	case syslogRead, syslogReadAll, syslogReadClear:
		switch {
		case a[1] == 0 || length < 0:
			return kernel.Fail(unix.EINVAL)
		case int32(a[0]) == syslogRead && length > 0:
			return t.Block(kernel.RestartSA) // for ever
		}
	case syslogClose, syslogOpen, syslogClear, syslogUnread:
	case syslogConsoleOff:
		setLevel(level[2])
	case syslogConsoleOn:
		setLevel(level[3])
	case syslogConsoleLevel:
		if length < 1 || length > 8 {
			return kernel.Fail(unix.EINVAL)
		}
		setLevel(max(int64(length), level[2]))
	case syslogSize:
		return kernel.Ret(bufferSize)
	default:
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.Ret(0)
}

// sysVhangup hangs up the controlling terminal. A caller without one has nothing to do.
func sysVhangup(t *kernel.Thread, a Args) kernel.Result {
	switch {
	case !t.Capable(unix.CAP_SYS_TTY_CONFIG):
		return kernel.Fail(unix.EPERM)
	case tty.ControllingOf(t.Proc) != nil:
		t.Node().Refuse(t, "vhangup of a terminal", "", false)
		return kernel.Fail(unix.EPERM)
	}
	return kernel.Ret(0)
}
