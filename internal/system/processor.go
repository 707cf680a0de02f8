package system

import (
	"fmt"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/processor"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
)

// canShow says why programs cannot be told of this model of a processor on this machine.
func canShow(model string) error {
	m := processor.Named(model)
	switch {
	case model == "":
		return nil
	case m == nil:
		return fmt.Errorf("processor: %s: this version knows no such model", model)
	case !tracee.CanTrapCPUID():
		return fmt.Errorf("processor: %s: this machine cannot trap cpuid, so programs would see the real processor (use processor: %s)", model, processor.Host)
	}
	if missing := m.Missing(tracee.Processor()); len(missing) > 0 {
		return fmt.Errorf("processor: %s: this machine's processor lacks %s", model, strings.Join(missing, ", "))
	}
	return nil
}
