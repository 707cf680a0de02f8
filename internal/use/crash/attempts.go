package crash

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// AttemptsOf are the executions in which a call of the node's fails, of those in steps on files
// that a loss would be about: in its home or /tmp, and not outside the disk. There are at most so
// many. Where there are more each kind of call on each file comes first.
func AttemptsOf(s *spec.Spec, o system.Options, steps []ariadne.Step, outside []string, most int) *Attempts {
	var cases []run.Case
	var first []int // how many of the same call, file and error came before
	seen := map[string]int{}
	for i := range steps {
		for _, p := range steps[i].Output.Places {
			call, file := calledOn(p.Name)
			if p.Kind() != world.KindOf(world.Fail).Name || !within(file, "/node") && !within(file, "/tmp") ||
				slices.Contains(outside, strings.TrimPrefix(file, "/node/")) {
				continue
			}
			for _, alternative := range p.Alternatives {
				kind := call + " " + file + " " + alternative
				first = append(first, seen[kind])
				seen[kind]++
				cases = append(cases,
					run.Case{{Step: steps[i].Index,
						Vary: ariadne.Variation(ariadne.Choice{Alternative: alternative, Place: p.Name}.String())}})
			}
		}
	}
	all := make([]int, len(cases)) // their places
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(i, j int) int { return cmp.Compare(first[i], first[j]) })
	all = all[:min(len(all), most)]
	slices.Sort(all)
	chosen := make([]run.Case, len(all))
	for n, i := range all {
		chosen[n] = cases[i]
	}
	return &Attempts{Count: len(chosen), Left: len(cases) - len(chosen),
		Run: func(ctx context.Context, tell func(*Attempt) error) error {
			var log *disk.Log
			options := o
			options.Nodes = system.Processes{Files: func(_ ariadne.NodeID, l *disk.Log) { log = l }}
			return run.Vary(ctx, s, options, slices.Values(chosen), func(c run.Case, v *run.Varied) error {
				at := attempt(c[0].Vary, v)
				at.Log = log.Ops()
				return tell(at)
			})
		}}
}

// calledOn are the call of a place and the file that it is made on.
func calledOn(place string) (call, file string) {
	_, place, _ = strings.Cut(place, "/")
	call, file, _ = strings.Cut(place[:strings.LastIndexByte(place, '#')], ":")
	if plain, err := url.PathUnescape(file); err == nil {
		file = plain
	}
	return call, file
}

// attempt is what came of an execution with a failed call.
func attempt(by ariadne.Variation, v *run.Varied) *Attempt {
	failed := by.Choices()[0]
	call, file := calledOn(failed.Place)
	_, with, _ := strings.Cut(failed.Alternative, ":")
	at := &Attempt{
		Place: string(by), Call: call, File: strings.TrimPrefix(file, "/node/"), Error: with,
		Syncs: call == "fsync" || call == "fdatasync", How: "the command reports success",
	}
	var said []string
	for i := range v.Steps {
		o := &v.Steps[i].Output
		for _, l := range o.Logs {
			if l.Stream == 1 || l.Stream == 2 {
				said = append(said, l.Text)
			}
		}
		for _, e := range o.Exits {
			if at.Status == 0 && (e.Status != 0 || e.Signal != 0) {
				at.Status, at.How = e.Status, "the command "+e.How()
				if e.Signal != 0 {
					at.Status = 128 + e.Signal
				}
			}
		}
	}
	at.Said = strings.Join(said[max(len(said)-maxSaid, 0):], "\n")
	switch violation := v.Violation; {
	case len(v.Doubts) > 0:
		at.Undecided = v.Doubts[0]
	case violation == nil || at.Status != 0:
	case violation.Kind == "deadlock" || violation.Kind == "divergence":
		at.Hangs, at.How = true, "the command hangs"
	default:
		at.Undecided = violation.Kind + ": " + violation.Message
	}
	return at
}
