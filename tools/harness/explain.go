package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/record/causal"
	"github.com/ariadne-mc/ariadne/internal/use/explain"
	"github.com/ariadne-mc/ariadne/tools/child"
)

// The output of `ariadne explain --json`.
type (
	Explained   = explain.Explanation
	Moment      = explain.Moment
	StepInWords = causal.Event
)

// Explain explains a trace, and tries executions for so long. text is what people read of it.
func (a *Ariadne) Explain(ctx context.Context, trace string, limit time.Duration) (x *Explained, text string,
	err error) {
	run := func(flags ...string) (string, error) {
		cmd := child.Command(ctx, a.Binary, append([]string{"explain", trace, "--time", limit.String()}, flags...)...)
		cmd.Dir, cmd.Env = a.Dir, a.Env
		var said, complaints strings.Builder
		cmd.Stdout, cmd.Stderr = &said, &complaints
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("%v: %w: %s", cmd.Args, err, tail(complaints.String()))
		}
		return said.String(), nil
	}
	said, err := run("--json")
	if err != nil {
		return nil, "", err
	}
	x = &Explained{}
	if err := json.Unmarshal([]byte(said), x); err != nil {
		return nil, "", fmt.Errorf("what explain printed of %s: %w", trace, err)
	}
	text, err = run()
	return x, text, err
}
