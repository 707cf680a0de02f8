package harness

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// usage is what a process itself has used so far, without its children.
type usage struct {
	memoryMB float64 // largest resident size
	time     time.Duration
}

// watch looks at a process until it is asked what it saw.
func watch(pid int) (seen func() usage) {
	stop, result := make(chan struct{}), make(chan usage)
	go func() {
		var last usage
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			if now, ok := usageOf(pid); ok {
				last = now
			}
			select {
			case <-stop:
				result <- last
				return
			case <-tick.C:
			}
		}
	}()
	return func() usage { close(stop); return <-result }
}

// usageOf reads /proc; it fails when the process is gone or has left its memory.
func usageOf(pid int) (usage, bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return usage{}, false
	}
	var u usage
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			kb, _ := strconv.ParseFloat(f[1], 64)
			u.memoryMB = kb / 1024
		}
	}
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil || u.memoryMB == 0 {
		return usage{}, false
	}
	// Behind the name, which may have spaces: state is field 3, utime and stime are 14 and 15.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const hertz = 100 // USER_HZ, the same on all Linux that Go runs on
	for _, f := range fields[11:13] {
		ticks, _ := strconv.ParseInt(f, 10, 64)
		u.time += time.Duration(ticks) * time.Second / hertz
	}
	return u, true
}
