package main

import (
	"cmp"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/check"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// defaultCheck is how long a check lasts that is given neither a time nor a
// number of executions.
const defaultCheck = time.Minute

// The greatest useful values.
const (
	maxJobs        = 1000
	maxCheckpoints = 1_000_000
	maxWalks       = 10_000
)

func (a *app) checkCommand() *cobra.Command {
	var o outputFlags
	var seed seedFlag
	var opts check.Options
	var steer steering
	var faults spec.Budgets
	var seek string
	var lifted struct{ time, executions, depth bool } // by none
	cmd := &cobra.Command{
		Use:   "check SPEC",
		Short: "Explore the system's executions and look for violations",
		Long: `Explores executions of the system: other orders of messages, timers that fire within the
clock error, delays, and faults that the spec allows. A violation is the unexpected death of
a node, a step that does not end, or a deadlock. In a deadlock nothing can happen and a client
has not ended. The check replays each violation before it reports it.

The check executes each step of a node once and remembers the result, for the next check too.
It searches states in memory, and freezes nodes where paths branch. The report says what was
seen (coverage.csv and coverage.svg in the run directory), and whether every state within
the bounds was explored. -v prints the numbers. --strategy is one of

` + strategies() + `
A long execution has more orders than can be tried. --from, --depth, --timers and
--deviations bound the search. The natural schedule has every event at its time. The search follows
it up to the step of --from, and then takes at most --depth steps. At most --timers timers, and at
most --deviations steps of any kind, differ from the natural schedule.

The section explore of the spec has the same settings, and flags override it. A bound of 0
allows none of what it bounds. Without the flag, or with the value none, there is no bound.

The check stops at the first violation, unless --keep-going, and when --time or --executions
is used up. The default is one minute. An interrupt stops the check and keeps its results.
A check without a violation is inconclusive (exit status 3) in two cases: fewer than ten
executions have ended, or faults are allowed and no execution had one. It is not inconclusive
when every state was explored, or when --at-least says that so many executions are enough.`,
		Example: `  ariadne check spec.yaml
  ariadne check spec.yaml --time 10m --keep-going
  ariadne check spec.yaml --executions 100 --seed 3 --json
  ariadne check spec.yaml --strategy dpor --from '/became leader/' --depth 40 --timers 2`,
		Args: exactly("SPEC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := chooseStrategy(cmp.Or(steer.strategy, strategy.DefaultName), &opts); err != nil {
				return err
			}
			s, err := spec.Read(args[0])
			if err == nil {
				err = faults.Apply(s)
			}
			if err == nil {
				if lifted.depth {
					s.Explore.Bounds.Depth = nil
				}
				err = steer.apply(s, &opts)
			}
			if err != nil {
				return err
			}
			seed.apply(s)
			if opts.Time == 0 && opts.Executions == 0 && !lifted.time {
				opts.Time = defaultCheck
			}
			if seek != "" {
				if err := seekIn(seek, s, &opts); err != nil {
					return err
				}
			}
			opts.KeepGoing = opts.KeepGoing || opts.Until != nil
			if opts.KeepGoing && !cmd.Flags().Changed("shrink") {
				opts.Shrink = 0
			}
			p := a.printer(o, s)
			p.limits(opts)
			opts.Out, opts.System = o.out, a.system()
			opts.OnProgress, opts.OnViolation, opts.OnPrint = p.progress, p.violation, p.printScriptLine
			if err := forCheck(cmp.Or(opts.Workers, runtime.NumCPU()), opts.Search.Memory); err != nil {
				return err
			}
			opts.Usual = !cmd.Flags().Changed("at-least")
			r, err := check.Check(cmd.Context(), s, opts)
			return a.finish(p, r, err)
		},
	}
	o.add(cmd)
	o.addVerbose(cmd)
	seed.add(cmd)
	f := cmd.Flags()
	f.Var(&faults, "faults", "allow so many faults of each kind in an execution, as in `crash:2,cut` (2 crashes, 1 cut), instead of the spec's numbers; none: no faults; none,crash: only crashes (kinds: "+strings.Join(spec.FaultNames(), ", ")+")")
	f.Var(span{&opts.Time, &lifted.time}, "time", "stop after this `duration` of real time, or none; exact to 2 s or 2 %, besides the time to confirm a violation (default: one minute, without --executions)")
	f.Var(count{&opts.Executions, 1, spec.MaxInt, &lifted.executions}, "executions",
		"stop after `n` executions, or none")
	f.Var(count{&opts.AtLeast, 1, spec.MaxInt, nil}, "at-least", "`n` executions are enough for the verdict that nothing was found, with or without a fault among them; after fewer the check is inconclusive, unless every state was explored (default: 10, or --executions if that is less, and one of them with a fault if faults are allowed)")
	f.Var(count{&opts.Depth, 1, spec.MaxInt, &lifted.depth}, "depth", "end each execution after `n` steps, with --from after it, or none (default: the spec's bound or limit)")
	f.DurationVar(&opts.Shrink, "shrink", 10*time.Second, "look for a smaller execution with the same violation for this duration; 0: do not look, the default with --keep-going")
	f.BoolVar(&opts.KeepGoing, "keep-going", false, "go on after the first violation")
	f.Var(pattern{&opts.Until}, "until", "go on after a violation, as with --keep-going, until the message of one matches this `regexp`")
	f.StringVar(&seek, "seek", "", "look for an execution like the first violation in this `file` of ariadne watch --json, and stop at a violation of the same property")
	f.Var(count{&opts.Workers, 1, maxJobs, nil}, "jobs", "run `n` workers at the same time (default: one per processor)")
	f.Var(count{&opts.First, 0, spec.MaxInt, nil}, "first", "begin with the execution of this index, `n`")
	f.BoolVar(&opts.Resume, "resume", false, "continue the check that was interrupted in --out")
	steer.add(f)
	addSearch(f, &opts.Search)
	return cmd
}

// strategies lists them with what they do, as the help has it.
func strategies() string {
	var b strings.Builder
	for _, r := range strategy.Rows() {
		line := fmt.Sprintf("  %-14s", r.Name)
		for word := range strings.FieldsSeq(r.Doc) {
			if len(line)+1+len(word) > helpWidth {
				b.WriteString(line + "\n")
				line = strings.Repeat(" ", 16)
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

const helpWidth = 90

// addSearch adds the flags of how to search.
func addSearch(f *pflag.FlagSet, o *check.Search) {
	f.Var((*bound)(&o.Deviations), "deviations", "at most `n` steps of a path differ from the natural schedule")
	f.Var(&from{o}, "from", "follow the natural schedule up to this `step`, then explore: a number, /regexp/ on the log lines, live (each property with eventually or leads_to holds), or none (from the start)")
	f.Var((*bound)(&o.Timers), "timers", "at most `n` timers of a path fire before an event that is due earlier")
	f.Var((*bound)(&o.Deliveries), "deliveries", "at most `n` messages arrive in a path")
	f.Var((*bound)(&o.Delays), "delays", "at most `n` messages are delayed in a path, when the spec allows more")
	f.Var((*weights)(&o.Weights), "weights", "choose random events in proportion to the weights of their kinds, as in `deliver=1,timer=3`")
	f.Var((*bound)(&o.Branch), "branch", "DPOR tries other orders of the first `n` steps of a path only, or none: of all steps (default: of all; in rounds, of 32 steps anywhere)")
	f.Var((*bound)(&o.Backtracks), "backtracks", "DPOR backtracks at most `n` times, in each round or in all, or none: without limit (default: in rounds 1, rising to 100)")
	f.Var(count{&o.Walks, 1, maxWalks, nil}, "walks", "a state counts as dead for eventually and leads_to when `n` walks from it have found no live state; fewer where walks are long (default: 60)")
	f.Var((*patterns)(&o.States), "state", "a node's protocol state is what this `regexp` matches in its log lines, or the value of exposed:NAME or exposed:NAME.FIELD; may be repeated")
	f.Var((*share)(&o.Audit), "audit", "execute this `share` of new transitions twice and compare them; verify the same share of a script's answers")
	f.Var((*memory)(&o.Memory), "memory", "use at most about this `size` for Ariadne and its nodes, as in 500M or 4G; at least 64M (default: half of the memory of the machine or control group, and no more than is free)")
	f.Var(count{&o.Checkpoints, 1, maxCheckpoints, nil}, "checkpoints",
		"keep `n` frozen nodes in each executor, and at most four times as many that only list changed pages (default: 1000)")
	f.BoolVar(&o.NoCheckpoints, "no-checkpoints", false, "freeze no nodes; reach each state from the start of its node")
	f.BoolVar(&o.Copies, "copies", false, "go back to checkpoints only by copying processes, not by writing the pages that differ (which needs Linux 6.7)")
	f.Var((*clockProbes)(&o.ProbeClocks), "probe-clocks", "where a node reads the clock when a message arrives, try the message at later times, within delays and max_delay: `all` messages, some, or none (default: some with the strategy default, none with others; all if no word follows)")
	f.Lookup("probe-clocks").NoOptDefVal = "all"
	f.BoolVar(&o.Fresh, "fresh", false, "ignore what earlier checks of the spec have found (corpus.json), and do not add to it")
	f.BoolVar(&o.NoMemo, "no-memo", false, "remember no transitions; execute each one whenever it is needed")
}

// clockProbes is a flag with which messages are tried at other times.
type clockProbes check.ClockProbes

var clockProbeNames = map[check.ClockProbes]string{check.ProbeAll: "all", check.ProbeSome: "some",
	check.ProbeNone: "none"}

func (c *clockProbes) String() string { return clockProbeNames[check.ClockProbes(*c)] }
func (*clockProbes) Type() string     { return "all" }
func (c *clockProbes) Set(s string) error {
	for p, name := range clockProbeNames {
		if s == name {
			*c = clockProbes(p)
			return nil
		}
	}
	return fmt.Errorf("want all, some or none, not %q", s)
}

// pattern is a flag with a regular expression.
type pattern struct{ to **regexp.Regexp }

func (p pattern) String() string {
	if p.to == nil || *p.to == nil {
		return ""
	}
	return (*p.to).String()
}

func (p pattern) Set(s string) (err error) {
	*p.to, err = regexp.Compile(s)
	return err
}

func (pattern) Type() string { return "regexp" }

// patterns is a flag with a rule of what nodes show that may be repeated.
type patterns expose.Rules

func (p *patterns) String() string {
	var all []string
	for _, r := range *p {
		all = append(all, r.String())
	}
	return strings.Join(all, " ")
}

func (p *patterns) Set(s string) error {
	r, err := expose.ParseRule(s)
	if err == nil {
		*p = append(*p, r)
	}
	return err
}

func (*patterns) Type() string { return "regexp" }
