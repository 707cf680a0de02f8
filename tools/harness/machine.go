package harness

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Origin says on what machine something was measured, when, and with which Ariadne.
type Origin struct {
	When    time.Time `json:"when"`
	Machine string    `json:"machine"`
	Ariadne string    `json:"ariadne"`
	// Load is the load average when the measurement began: besides it, the machine was busy.
	Load string `json:"load"`
}

// Origin is that of what is measured from now on.
func (a *Ariadne) Origin() (Origin, error) {
	version, err := a.Version()
	if err != nil {
		return Origin{}, err
	}
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return Origin{}, err
	}
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return Origin{}, err
	}
	return Origin{
		When: time.Now().UTC(),
		Machine: fmt.Sprintf("%s, %d processors, Linux %s, %s", processor(), runtime.NumCPU(),
			unix.ByteSliceToString(u.Release[:]), runtime.Version()),
		Ariadne: version,
		Load:    strings.Fields(string(load))[0],
	}, nil
}

// processor is the model's name.
func processor() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "a processor"
	}
	for line := range strings.Lines(string(b)) {
		if name, model, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(model)
		}
	}
	return "a processor"
}

func (o Origin) String() string {
	return fmt.Sprintf("Measured on %s by Ariadne %s on %s (load before it: %s).", o.When.Format(time.DateOnly),
		o.Ariadne, o.Machine, o.Load)
}
