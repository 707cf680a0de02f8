package main

import (
	"cmp"
	"fmt"
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

// What more would be of no use.
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
	var lifted struct{ time, executions, depth bool } // by none
	cmd := &cobra.Command{
		Use:   "check SPEC",
		Short: "Explore the system's executions and look for violations",
		Long: `Explores what can happen: messages in any order, timers that fire late or early within
the clock error, delays. A violation is the unexpected death of a node, a step that does
not end, or a deadlock: nothing can happen and the clients are not done. Each is confirmed
by a replay before it is reported.

What a node does with an input is executed once and remembered, for the next check too;
states are searched in memory, and nodes are frozen where paths branch. The check says
what it has seen (coverage.csv and coverage.svg in the run directory) and whether that
was all within its bounds. --strategy chooses among

` + strategies() + `
A long execution has more orders than can be tried. --from, --depth, --timers and
--deviations keep a search to a part of them: the natural schedule up to a step, from
there so many steps, of which so many timers, or so many steps of any kind, are not
what comes first in time.

What of this is not said here is taken from the section explore of the spec. A bound of 0
allows none of what it bounds; without the flag, or with none in the place of the number,
there is no bound, whatever the spec says.

It stops at the first violation, unless --keep-going, and when --time or --executions is
used up (one minute when neither is given). An interrupt ends it with what it found.
When fewer than ten executions have ended, or there may be faults and none of the executions
had one, a check that has found nothing is inconclusive (exit status 3), unless all is
explored or --at-least says that so many are enough.`,
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
			if opts.KeepGoing && !cmd.Flags().Changed("shrink") {
				opts.Shrink = 0
			}
			p := a.printer(o, s)
			p.limits(opts)
			opts.Out, opts.System = o.out, a.system()
			opts.OnProgress, opts.OnViolation, opts.OnPrint = p.progress, p.violation, p.said
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
	f.Var(&faults, "faults", "up to so many faults of these kinds in an execution, as in `crash:2,cut` (which is one), in the place of the spec's; none lifts the spec's, none,crash all but these (kinds: "+strings.Join(spec.FaultNames(), ", ")+")")
	f.Var(span{&opts.Time, &lifted.time}, "time", "stop after this `duration` of real time, give or take 2 s or 2 % and the time to confirm what was found, or none (default: one minute, without --executions)")
	f.Var(count{&opts.Executions, 1, spec.MaxInt, &lifted.executions}, "executions", "stop after `n` executions, or none")
	f.Var(count{&opts.AtLeast, 1, spec.MaxInt, nil}, "at-least", "after `n` executions nothing found is a verdict, whether there was a fault in them or not; after fewer the check is inconclusive, unless all is explored (default: 10, or --executions when that is less, of which one has a fault where there may be some)")
	f.Var(count{&opts.Depth, 1, spec.MaxInt, &lifted.depth}, "depth", "end each execution after `n` steps, with --from after it, or none (default: the spec's bound or limit)")
	f.DurationVar(&opts.Shrink, "shrink", 10*time.Second, "how long to look for a smaller execution that ends in a violation that was found; 0: not at all, which is the default with --keep-going")
	f.BoolVar(&opts.KeepGoing, "keep-going", false, "go on after the first violation")
	f.Var(count{&opts.Workers, 1, maxJobs, nil}, "jobs", "`n` workers at the same time (default: one per processor)")
	f.Var(count{&opts.First, 0, spec.MaxInt, nil}, "first", "begin with the execution of index `n`")
	f.BoolVar(&opts.Resume, "resume", false, "go on with the check that was interrupted in --out")
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
	f.Var((*bound)(&o.Deviations), "deviations", "at most `n` steps of a path are not the natural ones")
	f.Var(&from{o}, "from", "follow the natural schedule up to this `step`, a number, /regexp/ on the log lines, or live, where all has happened that must, and explore from there; none: from the start, whatever the spec says")
	f.Var((*bound)(&o.Timers), "timers", "at most `n` timers of a path fire although something else comes first in time")
	f.Var((*bound)(&o.Deliveries), "deliveries", "at most `n` messages arrive in a path")
	f.Var((*bound)(&o.Delays), "delays", "at most `n` messages are delayed in a path, when the spec allows more")
	f.Var((*weights)(&o.Weights), "weights", "random choices take an event in proportion to the weight of its kind, as in `deliver=1,timer=3`")
	f.Var((*bound)(&o.Branch), "branch", "DPOR tries other orders of a path's first `n` steps only, or none: of all (default: of all; in rounds of 32 anywhere in it)")
	f.Var((*bound)(&o.Backtracks), "backtracks", "a round of DPOR, or all of it, goes back `n` times at most, or none: as often as it can (default: in rounds once, then more and more, up to 100)")
	f.Var(count{&o.Walks, 1, maxWalks, nil}, "walks", "a state counts as dead, for properties with eventually and leads_to, when `n` walks from it have found no live one, or fewer where walks are long (default: 60)")
	f.Var((*patterns)(&o.States), "state", "`regexp` on log lines, or exposed:NAME or exposed:NAME.FIELD, what it exposes, that tells a node's protocol state; may be repeated")
	f.Var((*share)(&o.Audit), "audit", "execute this `share` of new transitions twice and compare; look at this share of a script's answers")
	f.Var((*memory)(&o.Memory), "memory", "Ariadne and its nodes use `size` at most, about, as in 500M or 4G, at least 64M (default: half of what the machine, or a control group, has, and no more than is left)")
	f.Var(count{&o.Checkpoints, 1, maxCheckpoints, nil}, "checkpoints", "each executor keeps `n` frozen nodes (default: 1000)")
	f.BoolVar(&o.NoCheckpoints, "no-checkpoints", false, "freeze nothing; reach each state from the node's start")
	f.BoolVar(&o.Fresh, "fresh", false, "leave aside what earlier checks of the spec have come upon (corpus.json): do not begin with it, and do not add to it")
	f.BoolVar(&o.NoMemo, "no-memo", false, "remember nothing; execute each transition whenever it is needed")
}

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
