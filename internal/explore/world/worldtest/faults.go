package worldtest

import (
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// Faults is the budget of n faults of a kind.
func Faults(kind string, n int) (f world.Faults) {
	k, ok := world.KindNamed(kind)
	if !ok || world.KindOf(k).Fault == "" {
		panic(fmt.Sprintf("no kind of fault is named %q", kind))
	}
	f[k] = uint8(n)
	return f
}
