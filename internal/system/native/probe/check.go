//go:build linux && amd64

package probe

import (
	"errors"
	"os"
)

// Check says why this machine cannot look into programs by BPF; "": it can.
func Check() string {
	k, err := Open()
	if err == nil {
		err = errors.Join(k.FollowSockets(), k.Close())
	}
	return Explain(err)
}

// Explain says in words why probes cannot be set; "": they can.
func Explain(err error) string {
	switch {
	case errors.Is(err, os.ErrPermission):
		return "BPF is not permitted: it needs root, or CAP_BPF and CAP_PERFMON"
	case err != nil:
		return err.Error()
	}
	return ""
}
