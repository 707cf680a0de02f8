package explain

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/ariadne-mc/ariadne/internal/record/causal"
)

// place says where a step happened: "n2: " or "n1 -> n2: ".
func place(e *causal.Event) string {
	switch {
	case e.Node == "":
		return "network: "
	case e.From != "":
		return e.From + " -> " + e.Node + ": "
	}
	return e.Node + ": "
}

// story are the steps of the causal past that matter most, at most MostLines, in order.
func (x *explanation) story() (all []Moment) {
	weights := x.weights()
	var steps []int
	for i := range x.events {
		if x.past[i+1] || weights[i] >= always {
			steps = append(steps, i)
		}
	}
	slices.SortStableFunc(steps, func(i, j int) int {
		return cmp.Or(cmp.Compare(weights[j], weights[i]), cmp.Compare(j, i))
	})
	steps = x.diverse(steps, weights)
	slices.Sort(steps)
	needed := x.needed()
	for _, i := range steps {
		e := x.events[i]
		all = append(all,
			Moment{Event: e, Needed: needed[e.Step], Critical: x.Goal != nil && x.Goal.Critical == e.Step,
				Violated: e.Step == x.Violation.Step})
	}
	return all
}

// mostAlike is how many steps of a story are alike but for numbers.
const mostAlike = 3

var figures = regexp.MustCompile(`[0-9][0-9a-fA-F.:]*`)

// diverse are the first MostLines of some steps, without those of which the story has enough that
// are alike, as long as there are others.
func (x *explanation) diverse(steps []int, weights []float64) (some []int) {
	alike := map[string]int{}
	var rest []int
	for _, i := range steps {
		e := &x.events[i]
		shape := figures.ReplaceAllString(place(e)+textOf(e), "0")
		if alike[shape]++; alike[shape] > mostAlike && weights[i] < always {
			rest = append(rest, i)
		} else {
			some = append(some, i)
		}
	}
	some = append(some, rest...)
	return some[:min(len(some), MostLines)]
}

// needed are the steps of deviations that the violation does not come without.
func (x *explanation) needed() map[int]bool {
	steps := map[int]bool{}
	for i := range x.Deviations {
		if d := &x.Deviations[i]; d.Needed() {
			steps[d.Step] = true
		}
	}
	return steps
}

// The weights of steps for a story. A step with the weight always is in it whether it is in the
// causal past or not.
const (
	violated   = 2000
	critical   = 1800
	requisite  = 1600 // its deviation is needed
	always     = 1500
	undecided  = 500 // its deviation was not tried, or is one of a set that is needed
	lossWeight = 450
	partingW   = 300 // the first step of a node that the nearest good execution does not have
	exitWeight = 250 // a command ended otherwise than well
	faultW     = 150
	exposeW    = 120
	chainW     = 150 // it leads by messages with data straight to the violation
	lineW      = 40
	dataW      = 30
	newW       = 60  // the nearest good execution does not have it
	wordsW     = 200 // at most, for words that it has in common with the violation
	recentW    = 120
	quietW     = -200 // nothing comes of it
)

// weights are by step, from 0.
func (x *explanation) weights() []float64 {
	w := make([]float64, len(x.events))
	for i := range x.events {
		w[i] = weigh(&x.events[i]) + recentW*float64(i)/float64(len(w))
	}
	x.weighDeviations(w)
	x.weighDifference(w)
	x.weighChain(w)
	x.weighWords(w)
	if n := x.Violation.Step; n > 0 && n <= len(w) {
		w[n-1] += violated
	}
	if x.Goal != nil && x.Goal.Critical > 0 && x.Goal.Critical <= len(w) {
		w[x.Goal.Critical-1] += critical
	}
	return w
}

// weigh is what a step weighs by itself.
func weigh(e *causal.Event) (w float64) {
	quiet := true
	for _, o := range e.Outcomes {
		quiet = false
		switch o.Kind {
		case causal.Lost:
			w = max(w, lossWeight)
		case causal.Exited:
			if !strings.HasSuffix(o.Text, "exited with status 0") {
				w = max(w, exitWeight)
			}
		case causal.Stuck:
			w = max(w, exitWeight)
		case causal.Exposed:
			w = max(w, exposeW)
		case causal.Chosen:
			w = max(w, faultW)
		case causal.Line:
			w = max(w, lineW)
		}
	}
	switch {
	case e.Kind == causal.Struck:
		return w + faultW
	case e.Protocol != "":
		return w + dataW
	case quiet:
		return w + quietW
	}
	return w
}

func (x *explanation) weighDeviations(w []float64) {
	inSet := map[int]bool{}
	if x.Parting != nil {
		for _, step := range x.Parting.Undone {
			inSet[step] = true
		}
	}
	for i := range x.Deviations {
		d := &x.Deviations[i]
		switch {
		case d.Needed():
			w[d.Step-1] += requisite
		case inSet[d.Step], d.Came == notTried && d.Kind != "late":
			w[d.Step-1] += undecided
		}
	}
}

// weighDifference weighs what the nearest execution that ends well does not have.
func (x *explanation) weighDifference(w []float64) {
	if x.good == nil {
		return
	}
	type done struct {
		name   string
		digest string
	}
	there := map[string][]done{}
	for i := range x.good.Steps {
		s := &x.good.Steps[i]
		node := x.words.Names.Node(s.Action.Node)
		there[node] = append(there[node], done{s.Name, s.Output.Digest.String()})
	}
	parted := map[string]bool{}
	at := map[string]int{}
	for i, s := range x.graph.Steps() {
		node := x.words.Names.Node(s.Action.Node)
		n := at[node]
		at[node]++
		if !parted[node] && n < len(there[node]) && there[node][n] == (done{s.Name, s.Output.Digest.String()}) {
			continue
		}
		if !parted[node] {
			w[i] += partingW
		}
		parted[node] = true
		w[i] += newW
	}
}

// weighChain weighs the messages with data that lead to the violation: what it was given last, what
// the sender of that was given last, and so on.
func (x *explanation) weighChain(w []float64) {
	step := x.Violation.Step
	for hop := float64(0); hop < 10 && step > 0 && step <= len(w); {
		var from int
		for _, c := range x.graph.Causes(step) {
			if c.Kind == causal.Message {
				from = c.Step
			}
		}
		if from == 0 {
			for _, c := range x.graph.Causes(step) {
				if c.Kind == causal.Program {
					from = c.Step
				}
			}
			step = from
			continue
		}
		if x.events[step-1].Protocol != "" {
			w[step-1] += chainW - 10*hop
			hop++
		}
		step = from
	}
}

// weighWords weighs words that a step has in common with the violation, the more the fewer steps
// have them.
func (x *explanation) weighWords(w []float64) {
	names := map[string]bool{}
	for i := range x.system.Spec.Nodes {
		names[strings.ToLower(x.system.Spec.Nodes[i].Name)] = true
	}
	wanted := words(x.Violation.Message)
	has := make([]map[string]bool, len(x.events))
	count := map[string]int{}
	for i := range x.events {
		has[i] = map[string]bool{}
		for word := range words(textOf(&x.events[i])) {
			if wanted[word] && !names[word] {
				has[i][word] = true
				count[word]++
			}
		}
	}
	for i := range has {
		sum := 0.0
		for word := range has[i] {
			sum += 25 * math.Log(float64(len(w)+1)/float64(count[word]+1))
		}
		w[i] += min(sum, wordsW)
	}
}

// textOf is all that an event says.
func textOf(e *causal.Event) string {
	text := e.Text
	for _, o := range e.Outcomes {
		text += " " + o.Text
	}
	return text
}

// words are those of a text, in lower case.
func words(text string) map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	}) {
		all[word] = true
	}
	return all
}
