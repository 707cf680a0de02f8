//go:build linux && amd64

package probe

import (
	"errors"
	"os"
)

// Check says why this machine cannot look into programs by BPF, and why it cannot list their
// sockets; "": it can.
func Check() (functions, sockets string) {
	k, err := Open()
	if err != nil {
		return Explain(err), Explain(err)
	}
	err = k.FollowSockets()
	return Explain(k.Close()), Explain(err)
}

// Explain says in words why probes cannot be set, or sockets not listed; "": they can.
func Explain(err error) string {
	switch {
	case errors.Is(err, ErrNoSockets):
		return "the kernel refuses BPF's list of sockets"
	case errors.Is(err, os.ErrPermission):
		return "BPF is not permitted: it needs root, or CAP_BPF and CAP_PERFMON"
	case err != nil:
		return err.Error()
	}
	return ""
}
