//go:build linux

package disk

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
)

// Group is failing images with the same symptom.
type Group struct {
	// Layer is the one that failed, or "" for the checker.
	Layer  string `json:"layer,omitempty"`
	Why    string `json:"why"` // of the example
	Images int    `json:"images"`
	// Executions is how many have such images.
	Executions int `json:"executions"`
	// Example is the one that lacks least.
	Example *Failure `json:"example,omitempty"`
	// Blamed are the layers without which the stack does not show the symptom.
	Blamed []string `json:"blamed,omitempty"`
	// Threads are the layers of which threads have run in each execution with such an image.
	Threads []string `json:"threads,omitempty"`
	// Dir is where the example is kept, if it is.
	Dir string `json:"dir,omitempty"`

	// idle are the layers of which no thread has run in one of the executions.
	idle map[string]bool
	last string // execution that was counted
	key  string // the symptom
}

// Failure is an image that is rejected.
type Failure struct {
	Execution string   `json:"execution"`
	At        int      `json:"at"`   // requests and marks before the loss
	Last      string   `json:"last"` // of them
	Said      string   `json:"said,omitempty"`
	Lost      []string `json:"lost"`
	// Why is how the image is rejected.
	Why string `json:"why"`
	// Recovery is of the first loss, when the power is lost again during the recovery from it.
	Recovery *Failure `json:"recovery_of,omitempty"`

	trace *Trace
	size  int // of what is lost, in requests
}

// numerals are what symptoms do not differ by.
var numerals = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`)

// symptom is what is wrong with an image, without what differs from image to image. For the
// ready-made checker it is without the names of files too, and with the kinds of the last calls.
func (r *round) symptom(im *image, why string) string {
	text := im.result.layer + ": " + numerals.ReplaceAllString(why, "N")
	if im.result.failed != "" || len(r.e.plan.calls) == 0 {
		return text
	}
	words := strings.Fields(text)
	for i, w := range words {
		if r.e.history.IsPath(w) {
			words[i] = "FILE"
		}
	}
	text = strings.Join(words, " ")
	for _, c := range r.e.plan.calls[max(im.epoch.begun-2, 0):im.epoch.begun] {
		text += "; " + string(c.Kind)
	}
	return text
}

// blame puts a rejected image into its group. If it can be the example there, it is made smaller.
func (r *round) blame(ctx context.Context, im *image, p *block.Point, why string) error {
	key := r.symptom(im, why)
	g := r.j.groups[key]
	if g == nil {
		g = &Group{Layer: im.result.layer, Why: why, key: key, idle: map[string]bool{}}
		r.j.groups[key] = g
	}
	g.Images++
	if g.last != r.e.plan.name {
		g.last = r.e.plan.name
		g.Executions++
		g.noteThreads(r.j.Spec, r.e.plan)
	}
	lost := p.Lost(im.n)
	if g.Example != nil && len(lost) >= g.Example.size && g.Executions > 1 {
		return nil
	}
	if g.Example == nil {
		g.Example = r.failure(im, lost, why) // so there is one also if an interrupt comes now
	}
	lost, why, err := r.shrink(ctx, im, p, lost, why)
	if err != nil {
		return err
	}
	if len(lost) < g.Example.size {
		g.Example = r.failure(im, lost, why)
		g.Why = why
	}
	return nil
}

// mostShrunk is how many images are tried to make one smaller.
const mostShrunk = 64

// shrink puts back lost parts, as long as the image fails in the same way.
func (r *round) shrink(ctx context.Context, im *image, p *block.Point, lost []block.Loss, why string) ([]block.Loss,
	string, error) {
	want := r.symptom(im, why)
	for step, tried := (len(lost)+1)/2, 0; step > 0 && len(lost) > 0; {
		smaller := false
		for at := 0; at < len(lost) && tried < mostShrunk; {
			rest := slices.Concat(lost[:at], lost[min(at+step, len(lost)):])
			again, err := r.try(ctx, p, p.Without(rest), im.epoch)
			if err != nil {
				return nil, "", err
			}
			tried++
			if again != "" && r.symptom(im, again) == want {
				lost, why, smaller = rest, again, true
			} else {
				at += step
			}
		}
		if step == 1 && !smaller || tried == mostShrunk {
			break
		}
		step = max(step/2, 1)
	}
	return lost, why, nil
}

// failure describes an image.
func (r *round) failure(im *image, lost []block.Loss, why string) *Failure {
	f := &Failure{Execution: r.e.plan.name, At: im.at, Why: why, size: len(lost), Lost: []string{}}
	for i := im.at - 1; i >= 0; i-- {
		if o := &r.log[i]; o.Changes() || o.Kind == block.Flush {
			f.Last = o.String()
			break
		}
	}
	f.Said = r.saidText(im)
	for _, l := range lost {
		f.Lost = append(f.Lost, l.Words(r.log))
	}
	f.trace = &Trace{Name: r.e.plan.name, Calls: r.e.plan.calls, base: r.base, Log: r.log,
		Failing: &Loss{At: im.at, Lost: lost}}
	f.trace.Failed = r.e.results
	if fault := r.e.plan.fault; fault != nil && fault.struck {
		f.trace.Fault = fault.kind
	}
	if im.during != nil {
		first := &round{j: r.j, e: r.e, base: r.e.base, log: r.e.log}
		firstLost := first.pointOf(im.during).Lost(im.during.n)
		f.Recovery = first.failure(im.during, firstLost, "")
		f.trace = f.Recovery.trace
		f.trace.Failing.Again = &Loss{At: im.at, Lost: lost}
		f.trace.Again = r.log
	}
	return f
}

// saidText is the calls that the loss is in, for the ready-made checker.
func (r *round) saidText(im *image) string {
	calls := r.e.plan.calls
	switch e := im.epoch; {
	case len(calls) == 0:
		return strings.Join(e.Promises, "; ")
	case e.ended < e.begun:
		return fmt.Sprintf("during call %d, %s", e.begun, calls[e.ended])
	case e.ended > 0:
		return fmt.Sprintf("after call %d, %s", e.ended, calls[e.ended-1])
	}
	return "before the first call"
}

// blameCall reports a call of a workload that does not do what it must.
func (j *judge) blameCall(e *execution) {
	j.Failed++
	if len(j.Calls) < mostCalls {
		j.Calls = append(j.Calls, fmt.Sprintf("%s: %s", e.plan.name, e.failed))
	}
}

// mostCalls is how many failures of calls are listed.
const mostCalls = 20

// sortedGroups are the groups, the smallest example first.
func sortedGroups(groups map[string]*Group) (all []Group) {
	for _, g := range groups {
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b Group) int {
		return cmp.Or(a.Example.size-b.Example.size, b.Images-a.Images, strings.Compare(a.Why, b.Why))
	})
	return all
}
