package sys

import (
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// CLOCK_REALTIME is a node's own: it may be set, and jumps for it alone. What adjtimex is told
// about its rate is kept and shown (kernel.NTP).

const rateKept = "the clock's rate is kept and shown, and stays as it is"

// maxRealSec is how far the clock can be set: 30 years before its end (TIME_SETTOD_SEC_MAX).
const maxRealSec = (1<<63-1)/1_000_000_000 - 30*365*24*3600

// MayBeSet reports whether the clock can be set to a time in ns since the epoch: not to one before
// the machine was switched on by a clock that began at 0.
func MayBeSet(n *kernel.Node, at int64) bool {
	return at >= n.MonoBase+int64(n.Now) && at/1e9 < maxRealSec
}

// setReal sets the clock to a time that a call was given.
func setReal(t *kernel.Thread, sec, nsec int64) kernel.Errno {
	switch {
	case nsec < 0 || nsec >= 1e9 || sec < 0 || sec >= maxRealSec:
		return unix.EINVAL
	case !t.Capable(unix.CAP_SYS_TIME):
		return unix.EPERM
	case !MayBeSet(t.Node(), sec*1e9+nsec):
		return unix.EINVAL
	}
	t.Node().SetReal(sec*1e9 + nsec)
	return 0
}

func sysClockSettime(t *kernel.Thread, a Args) kernel.Result {
	clock := int(int32(a[0]))
	if clock != unix.CLOCK_REALTIME && clock >= 0 {
		return kernel.Fail(unix.EINVAL)
	}
	b, e := readBytes(t, a[1], 16)
	if e != 0 {
		return kernel.Fail(e)
	}
	if clock < 0 { // no clock of processor time is ever set
		if _, _, e := cpuClock(t, clock); e != 0 {
			return kernel.Fail(e)
		}
		return kernel.Fail(unix.EPERM)
	}
	return kernel.RetOr(0, setReal(t, int64(le.Uint64(b)), int64(le.Uint64(b[8:]))))
}

func sysSettimeofday(t *kernel.Thread, a Args) kernel.Result {
	var tv, zone []byte
	var e kernel.Errno
	if a[0] != 0 {
		if tv, e = readBytes(t, a[0], 16); e != 0 {
			return kernel.Fail(e)
		}
		if usec := int64(le.Uint64(tv[8:])); usec < 0 || usec > 1e6 {
			return kernel.Fail(unix.EINVAL)
		}
	}
	west, dst := t.Node().NTP.West, t.Node().NTP.DST
	if a[1] != 0 {
		if zone, e = readBytes(t, a[1], 8); e != 0 {
			return kernel.Fail(e)
		}
		west, dst = int32(le.Uint32(zone)), int32(le.Uint32(zone[4:]))
	}
	const most = 15 * 60 // minutes from Greenwich
	switch {
	case tv != nil && (le.Uint64(tv[8:]) >= 1e6 || le.Uint64(tv) >= maxRealSec):
		return kernel.Fail(unix.EINVAL)
	case !t.Capable(unix.CAP_SYS_TIME):
		return kernel.Fail(unix.EPERM)
	case west > most || west < -most:
		return kernel.Fail(unix.EINVAL)
	}
	t.Node().NTP.West, t.Node().NTP.DST = west, dst
	if tv == nil {
		return kernel.Ret(0)
	}
	return kernel.RetOr(0, setReal(t, int64(le.Uint64(tv)), int64(le.Uint64(tv[8:]))*1000))
}

// Bits of timex.modes and timex.status beside those of package unix.
const (
	adjSetOffset = 0x100
	adjMicro     = 0x1000
	adjNano      = 0x2000
	adjAdjtime   = 0x8000 // adjtime(3)'s own mode
	adjSingle    = 0x0001 // with it: always
	adjReadOnly  = 0x2000 // with it: asks only

	staPLL      = 0x1
	staReadOnly = 0xff00
	staNano     = 0x2000
	staUnsync   = 0x40

	timeError = 5
)

// timexSize is that of struct timex; the offsets of its fields follow.
const (
	timexSize                                                              = 208
	timexOffset, timexFreq, timexMaxError, timexEstError, timexStatus      = 8, 16, 24, 32, 40
	timexConstant, timexPrecision, timexTolerance, timexSec, timexFraction = 48, 56, 64, 72, 80
	timexTick, timexTAI                                                    = 88, 160
)

func sysAdjtimex(t *kernel.Thread, a Args) kernel.Result {
	b, e := readBytes(t, a[0], timexSize)
	if e != 0 {
		return kernel.Fail(e)
	}
	modes := le.Uint32(b)
	if e := mayAdjust(t, modes, b); e != 0 {
		return kernel.Fail(e)
	}
	n := t.Node()
	c := &n.NTP
	field := func(at int) int64 { return int64(le.Uint64(b[at:])) }
	put := func(at int, v int64) { le.PutUint64(b[at:], uint64(v)) }
	if modes&adjSetOffset != 0 && modes&adjAdjtime == 0 {
		nsec := field(timexFraction)
		if modes&adjNano == 0 {
			nsec *= 1000
		}
		at, sec := n.RealNow(), field(timexSec)
		if sec > maxRealSec || sec < -maxRealSec {
			return kernel.Fail(unix.EINVAL)
		}
		if at += sec*1e9 + nsec; !MayBeSet(n, at) {
			return kernel.Fail(unix.EINVAL)
		}
		n.SetReal(at)
	}
	if rate := modes & (unix.ADJ_OFFSET | unix.ADJ_FREQUENCY | unix.ADJ_TICK); rate != 0 &&
		modes != adjAdjtime|adjSingle|adjReadOnly {
		n.Refuse(t, "adjtimex", fmt.Sprintf("modes %#x: %s", modes, rateKept), true)
	}
	if modes&adjAdjtime != 0 {
		was := c.Adjust
		if modes&adjReadOnly == 0 {
			c.Adjust = field(timexOffset)
		}
		put(timexOffset, was)
	} else {
		adjust(c, modes, b)
		put(timexOffset, c.Offset)
	}
	put(timexFreq, c.Freq)
	put(timexMaxError, c.MaxError)
	put(timexEstError, c.EstError)
	le.PutUint32(b[timexStatus:], uint32(c.Status))
	put(timexConstant, c.Constant)
	put(timexPrecision, 1)        // µs
	put(timexTolerance, 32768000) // 500 ppm
	n.TellTime()
	now := n.RealNow()
	put(timexSec, now/1e9)
	put(timexFraction, now%1e9)
	if c.Status&staNano == 0 {
		put(timexFraction, now%1e9/1000)
	}
	put(timexTick, usualTick)
	if c.Tick != 0 {
		put(timexTick, c.Tick)
	}
	le.PutUint32(b[timexTAI:], uint32(c.TAI))
	clear(b[timexTick+8 : timexTAI])
	clear(b[timexTAI+4:])
	state := unix.TIME_OK
	if c.Status&staUnsync != 0 {
		state = timeError
	}
	return kernel.RetOr(state, t.M.WriteMem(a[0], b))
}

// usualTick is how many µs there are between ticks, of which there are 100 a second for programs.
const usualTick = 10000

// mayAdjust finds what is wrong with an adjustment (timekeeping_validate_timex in Linux).
func mayAdjust(t *kernel.Thread, modes uint32, b []byte) kernel.Errno {
	able := t.Capable(unix.CAP_SYS_TIME)
	tick, fraction, freq := int64(le.Uint64(b[timexTick:])), int64(le.Uint64(b[timexFraction:])),
		int64(le.Uint64(b[timexFreq:]))
	most := int64(1e6)
	if modes&adjNano != 0 {
		most = 1e9
	}
	const scale = 1000 << 16 // of frequencies, in Linux
	switch {
	case modes&adjAdjtime != 0 && modes&adjSingle == 0:
		return unix.EINVAL
	case modes&adjAdjtime != 0 && modes&adjReadOnly == 0 && !able, modes&adjAdjtime == 0 && modes != 0 && !able:
		return unix.EPERM
	case modes&adjAdjtime == 0 && modes&unix.ADJ_TICK != 0 && (tick < usualTick*9/10 || tick > usualTick*11/10):
		return unix.EINVAL
	case modes&adjSetOffset != 0 && !able:
		return unix.EPERM
	case modes&adjSetOffset != 0 && (fraction < 0 || fraction >= most):
		return unix.EINVAL
	case modes&unix.ADJ_FREQUENCY != 0 && (freq > (1<<63-1)/scale || freq < -(1<<63)/scale):
		return unix.EINVAL
	}
	return 0
}

// adjust keeps what an adjustment says (process_adjtimex_modes in Linux).
func adjust(c *kernel.NTP, modes uint32, b []byte) {
	field := func(at int) int64 { return int64(le.Uint64(b[at:])) }
	clamp := func(v, least, most int64) int64 { return min(max(v, least), most) }
	const maxError, maxFreq, maxConstant, maxTAI = 16000000, 32768000, 10, 100000
	if modes&unix.ADJ_STATUS != 0 {
		status := int32(le.Uint32(b[timexStatus:]))
		if c.Status&staPLL != 0 && status&staPLL == 0 {
			c.Status = staUnsync
		}
		c.Status = c.Status&staReadOnly | status&^staReadOnly
	}
	if modes&adjNano != 0 {
		c.Status |= staNano
	}
	if modes&adjMicro != 0 {
		c.Status &^= staNano
	}
	if modes&unix.ADJ_FREQUENCY != 0 {
		c.Freq = clamp(field(timexFreq), -maxFreq, maxFreq)
	}
	if modes&unix.ADJ_MAXERROR != 0 {
		c.MaxError = clamp(field(timexMaxError), 0, maxError)
	}
	if modes&unix.ADJ_ESTERROR != 0 {
		c.EstError = clamp(field(timexEstError), 0, maxError)
	}
	if modes&unix.ADJ_TIMECONST != 0 {
		c.Constant = clamp(field(timexConstant), 0, maxConstant)
		if c.Status&staNano == 0 {
			c.Constant = min(c.Constant+4, maxConstant)
		}
	}
	if tai := field(timexConstant); modes&adjTAI != 0 && tai >= 0 && tai <= maxTAI {
		c.TAI = int32(tai)
	}
	if modes&unix.ADJ_OFFSET != 0 && c.Status&staPLL != 0 {
		const most = 5e8 // ns
		if c.Offset = field(timexOffset); c.Status&staNano == 0 {
			c.Offset = clamp(c.Offset, -most/1000, most/1000)
		}
		c.Offset = clamp(c.Offset, -most, most)
	}
	if modes&unix.ADJ_TICK != 0 {
		c.Tick = field(timexTick)
	}
}

// adjTAI is ADJ_TAI.
const adjTAI = 0x80

func sysClockAdjtime(t *kernel.Thread, a Args) kernel.Result {
	if _, e := readBytes(t, a[1], timexSize); e != 0 {
		return kernel.Fail(e)
	}
	switch clock := int(int32(a[0])); {
	case clock == unix.CLOCK_REALTIME:
		return sysAdjtimex(t, Args{a[1]})
	case clock < 0:
		if _, _, e := cpuClock(t, clock); e != 0 {
			return kernel.Fail(unix.EINVAL)
		}
	default:
		if _, e := readClock(t, clock); e != 0 {
			return kernel.Fail(e)
		}
	}
	return kernel.Fail(unix.EOPNOTSUPP)
}
