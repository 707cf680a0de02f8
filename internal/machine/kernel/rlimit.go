package kernel

import (
	"math"

	"golang.org/x/sys/unix"
)

// RlimInfinity is RLIM_INFINITY.
const RlimInfinity = ^uint64(0)

// MaxFiles is the most that RLIMIT_NOFILE can be (/proc/sys/fs/nr_open).
const MaxFiles = 1048576

// FilesMax is that setting.
var FilesMax = NewSetting("fs/nr_open", 64, math.MaxInt32, MaxFiles)

// SoftFiles is the soft limit that processes begin with, as in a login: programs
// close all numbers below it one by one.
const SoftFiles = 1024

// NumRlimits is the number of resources that setrlimit knows.
const NumRlimits = 16

// defaultRlimits are those of an ordinary server; the others are unlimited.
var defaultRlimits = [NumRlimits][2]uint64{
	unix.RLIMIT_STACK:      {8 << 20, RlimInfinity},
	unix.RLIMIT_CORE:       {0, RlimInfinity},
	unix.RLIMIT_NPROC:      {65536, 65536},
	unix.RLIMIT_NOFILE:     {SoftFiles, MaxFiles},
	unix.RLIMIT_MEMLOCK:    {8 << 20, 8 << 20},
	unix.RLIMIT_SIGPENDING: {65536, 65536},
	unix.RLIMIT_MSGQUEUE:   {819200, 819200},
	unix.RLIMIT_NICE:       {0, 0},
	unix.RLIMIT_RTPRIO:     {0, 0},
}

// limited are the resources that have an entry in defaultRlimits.
const limited = 1<<unix.RLIMIT_STACK | 1<<unix.RLIMIT_CORE | 1<<unix.RLIMIT_NPROC | 1<<unix.RLIMIT_NOFILE |
	1<<unix.RLIMIT_MEMLOCK | 1<<unix.RLIMIT_SIGPENDING | 1<<unix.RLIMIT_MSGQUEUE | 1<<unix.RLIMIT_NICE | 1<<unix.RLIMIT_RTPRIO

// Rlimit returns the soft and the hard limit of a resource.
func (p *Process) Rlimit(resource int) (soft, hard uint64) {
	if l, ok := p.Rlimits[resource]; ok {
		return l[0], l[1]
	}
	if resource < 0 || resource >= NumRlimits || limited>>resource&1 == 0 {
		return RlimInfinity, RlimInfinity
	}
	return defaultRlimits[resource][0], defaultRlimits[resource][1]
}
