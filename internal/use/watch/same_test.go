package watch

import (
	"maps"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/steer"
	"github.com/ariadne-mc/ariadne/internal/judge"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// TestSameVerdicts: executions of examples that a check has found, exported as what agents would
// have told of them, and arriving late and in any order, have the verdicts that the check gave.
// With clocks that are wrong and agents that look now and then, whatever is found is something that
// a judge of the true order finds, too.
func TestSameVerdicts(t *testing.T) {
	names := []string{"ring/loop-bug", "twofaults/figure8-bug"}
	if os.Getenv("ARIADNE_LONG") != "" {
		names = append(names, "twofaults/indoubt-bug", "locks/restart-bug", "locks/conflicts-bug",
			"primarybackup/primaries-bug", "redsync/lease-bug")
	}
	for _, name := range names {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			dir, _ := filepath.Split(name)
			if out, err := exec.Command("../../../examples/" + dir + "fetch").CombinedOutput(); err != nil {
				t.Skipf("not fetched: %v\n%s", err, out)
			}
			s, err := spec.Read("../../../examples/" + name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "out")
			search := check.Search{Strategy: "default"}
			if script := strings.TrimSuffix("../../../examples/"+name, "-bug") + ".star"; dir == "twofaults/" {
				rules, err := steer.Load(script)
				if err != nil {
					t.Fatal(err)
				}
				search = check.Search{Strategy: "script", Script: rules}
			}
			r, err := check.Check(t.Context(), s, check.Options{System: system.Options{Version: "test"}, Out: out,
				Workers: 1, Time: 30 * time.Second, Search: search})
			if err != nil {
				t.Fatal(err)
			}
			natural(t, s)
			if len(r.Violations) == 0 || r.Violations[0].Kind != property.Kind {
				t.Skipf("the check has found no violation of a property in its time: %v", r.Outcome)
			}
			steps, message := replayed(t, s, r.Violations[0].Trace)
			compareVerdicts(t, s, steps, message)
		})
	}
}

// replayed are the steps of a trace, and what the replay found.
func replayed(t *testing.T, s *spec.Spec, trace string) (steps []ariadne.Step, message string) {
	t.Helper()
	r, err := run.Replay(t.Context(), s, trace, run.Options{System: system.Options{Version: "test"},
		Out: filepath.Join(t.TempDir(), "out"), OnStep: func(s ariadne.Step) { steps = append(steps, s) }})
	if err != nil || len(r.Violations) != 1 {
		t.Fatalf("%v: %+v", err, r)
	}
	return steps, r.Violations[0].Message
}

// natural compares verdicts of the natural schedule.
func natural(t *testing.T, s *spec.Spec) {
	t.Helper()
	var steps []ariadne.Step
	r, err := run.Run(t.Context(), s, run.Options{System: system.Options{Version: "test"},
		Out: filepath.Join(t.TempDir(), "out"), OnStep: func(s ariadne.Step) { steps = append(steps, s) }})
	message := ""
	if err == nil && len(r.Violations) > 0 {
		message = r.Violations[0].Message
	}
	if err != nil {
		t.Fatal(err)
	}
	compareVerdicts(t, s, steps, message)
}

// compareVerdicts judges steps by verifiers, and by a judge that sees them one after the other.
func compareVerdicts(t *testing.T, s *spec.Spec, steps []ariadne.Step, message string) {
	t.Helper()
	all, _, err := properties(s)
	if err != nil || len(all) == 0 {
		t.Fatal(len(all), err)
	}
	for _, p := range all {
		compareProperty(t, s, p, steps, message)
	}
}

// compareProperty compares the verdicts on one property. message is what the check says, which is
// perhaps of another one.
func compareProperty(t *testing.T, s *spec.Spec, p *judge.Properties, steps []ariadne.Step, message string) {
	t.Helper()
	want := dumbly(s, p, steps)
	first := append(slices.Clone(want), "")[0]
	if name := p.Predicates[0].Name; strings.HasPrefix(message, name+": ") && first != message {
		t.Fatalf("the check says %q, a judge of each state %q", message, first)
	}
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		if seed < 3 && p.Division() != nil {
			compareDivided(t, s, p, steps, random)
		}
		got := verdicts(t, p, live.Config{}, shuffle(random, export(s, steps, random, 0)))
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %q, want %q", seed, got, want)
		}
		const wrong = 5 * perStep
		got = verdicts(t, p, live.Config{ClockError: wrong},
			shuffle(random, export(s, steps, random, wrong)))
		for _, g := range got {
			if !slices.Contains(want, g) {
				t.Fatalf("seed %d: %q is not among %q", seed, g, want)
			}
		}
	}
}

// compareDivided compares the moments at which a property is broken by one verifier with those at
// which it is by some of n parts, which judge only the moments after changes of their own tuples.
// The records of each part arrive in another order.
func compareDivided(t *testing.T, s *spec.Spec, p *judge.Properties, steps []ariadne.Step, random *rand.Rand) {
	t.Helper()
	for _, wrong := range []ariadne.Time{0, 5 * perStep} {
		records := export(s, steps, random, wrong)
		broken := func(part, parts int) map[ariadne.Time]bool {
			broken := map[ariadne.Time]bool{}
			j := p.NewJudge(1)
			verdicts(t, p, live.Config{ClockError: time.Duration(wrong), Part: part, Parts: parts,
				OnJudged: func(at live.Stamp, s *expose.Snapshot) {
					if j.Judge(s, expose.Between) != "" {
						broken[at.Wall] = true
					}
				}}, shuffle(random, records))
			return broken
		}
		want := broken(0, 1)
		for _, n := range []int{2, 3} {
			got := map[ariadne.Time]bool{}
			for part := range n {
				maps.Copy(got, broken(part, n))
			}
			if len(want) > 0 && len(got) == 0 {
				t.Fatalf("%s is broken at %v, and in none of %d parts", nameOf(p), want, n)
			}
			for at := range got {
				if wrong == 0 && !want[at] {
					t.Fatalf("%s is broken at %v, and in one of %d parts at %v", nameOf(p), want, n, got)
				}
			}
		}
	}
}

// dumbly are the verdicts of a judge that sees each state: those that differ from the one before.
func dumbly(s *spec.Spec, p *judge.Properties, steps []ariadne.Step) (all []string) {
	j := p.NewJudge(1)
	n := len(s.Nodes)
	now := &expose.Snapshot{Sets: make([]*expose.Set, n), Up: make([]bool, n)}
	last := ""
	for i := range steps {
		x := &steps[i]
		if x.Action.Node == ariadne.NoNode {
			continue
		}
		next := &expose.Snapshot{Sets: slices.Clone(now.Sets), Up: slices.Clone(now.Up)}
		set := &next.Sets[x.Action.Node]
		*set = (*set).After(p.Find(x.Action.Node, nil, &x.Output).Changes)
		if down := isDown(x); down {
			*set = (*set).Staying()
			next.Up[x.Action.Node] = false
		} else {
			next.Up[x.Action.Node] = true
		}
		next.Earlier = now.Earlier.Then(p.Windows(), now, next)
		now = next
		if v := j.Judge(now, expose.Between); v != last {
			if last == "" {
				all = append(all, v)
			}
			last = v
		}
	}
	return all
}

func isDown(x *ariadne.Step) bool {
	return x.Output.Down != ariadne.Up && x.Output.Down != ariadne.Paused
}

// verdicts are the messages of what a verifier finds.
func verdicts(t *testing.T, p *judge.Properties, c live.Config, records []live.Record) (all []string) {
	t.Helper()
	v := live.NewVerifier(c, p)
	for _, r := range records {
		if err := v.Take(r); err != nil {
			t.Fatal(err)
		}
		for _, f := range v.Found() {
			all = append(all, f.Message)
		}
	}
	if v.Missing() > 0 || len(v.Doubts()) > 0 {
		t.Fatalf("%d records are missing, %q", v.Missing(), v.Doubts())
	}
	return all
}

// perStep is the time between two steps, as agents see it: virtual time may stand still.
const perStep = 1000

// export is what agents would tell of steps. Their clocks are wrong by up to wrong; if it is 0,
// each sees each event when it happens, else whenever it looks.
func export(s *spec.Spec, steps []ariadne.Step, random *rand.Rand, wrong ariadne.Time) (all []live.Record) {
	for node := range s.Nodes {
		a := &exporter{node: ariadne.NodeID(node), sent: map[live.Stream]uint32{}, got: map[live.Stream]uint32{}}
		if wrong > 0 {
			a.skew = ariadne.Time(random.Int64N(int64(wrong)))
		}
		up := false
		for i := range steps {
			x, at := &steps[i], ariadne.Time(i+1)*perStep
			if x.Action.Node != a.node {
				continue
			}
			a.count(steps, x)
			if changes := s.Properties.Sources.Changes(a.node, &x.Output); len(changes) > 0 {
				a.add(live.Record{Kind: live.Show, Changes: changes}, at)
			}
			if now := !isDown(x); now != up {
				up = now
				a.add(live.Record{Kind: map[bool]live.Kind{true: live.Up, false: live.Down}[up]}, at)
			}
			if wrong == 0 || random.IntN(2) == 0 {
				a.look(at+1, wrong > 0)
			}
		}
		a.look(ariadne.Time(len(steps)+100)*perStep, true)
		all = append(all, a.told...)
	}
	return all
}

// exporter is an agent of one node.
type exporter struct {
	node      ariadne.NodeID
	skew      ariadne.Time
	looked    ariadne.Time
	pending   []live.Record
	sent, got map[live.Stream]uint32
	told      []live.Record
}

func (a *exporter) add(r live.Record, at ariadne.Time) {
	r.Node, r.After, r.At = a.node, at, at
	a.pending = append(a.pending, r)
}

// look tells what has happened since the last look; loosely: only that it was since then.
func (a *exporter) look(at ariadne.Time, loosely bool) {
	tell := func(r live.Record) {
		r.Node, r.Seq = a.node, uint64(len(a.told)+1)
		r.After, r.At, r.Read = r.After+a.skew, r.At+a.skew, r.Read+a.skew
		a.told = append(a.told, r)
	}
	for _, r := range a.pending {
		if loosely {
			r.After, r.At = a.looked, at
		}
		tell(r)
	}
	a.pending = nil
	p := &live.Positions{Sent: map[live.Stream]uint32{}, Got: map[live.Stream]uint32{}}
	for s, n := range a.sent {
		p.Sent[s] = n
	}
	for s, n := range a.got {
		p.Got[s] = n
	}
	tell(live.Record{Kind: live.Beat, After: at, At: at, Positions: p, Read: at})
	a.looked = at
}

// count adds what a step has sent and received over TCP.
func (a *exporter) count(steps []ariadne.Step, x *ariadne.Step) {
	stream := func(f ariadne.Flow) live.Stream {
		// Connections with the same addresses follow each other.
		port := func(p netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(p.Addr(), p.Port()^uint16(f.Epoch)) }
		return live.Stream{From: port(f.Src), To: port(f.Dst)}
	}
	for _, m := range x.Output.Messages {
		if m.Flow.Proto == ariadne.TCP {
			a.sent[stream(m.Flow)] += uint32(len(m.Data)) + 1
		}
	}
	if x.Action.Kind != ariadne.ActDeliver || x.Action.Flow.Proto != ariadne.TCP {
		return
	}
	for i := range steps {
		for _, m := range steps[i].Output.Messages {
			if m.Flow == x.Action.Flow && m.Seq == x.Action.Seq {
				a.got[stream(m.Flow)] += uint32(len(m.Data)) + 1
				return
			}
		}
	}
}

// shuffle are records in another order, some of them twice.
func shuffle(random *rand.Rand, all []live.Record) []live.Record {
	all = append(slices.Clone(all), all[:len(all)/4]...)
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}
