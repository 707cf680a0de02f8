package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/watch"
	"github.com/ariadne-mc/ariadne/internal/use/watch/stream"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) watchCommand() *cobra.Command {
	var o watch.Options
	var asJSON, quiet bool
	var metrics, command string
	cmd := &cobra.Command{
		Use:   "watch SPEC",
		Short: "Judge a system that runs outside the checker",
		Long: `Judges unmodified programs that run natively on this machine by the properties of a spec:
the same expose, stages and properties as in a check. Nodes are started from their commands, each
in namespaces of its own, unless watch: nodes: in the spec says how they are found. Ends at
--time, or when it is interrupted.

With --listen or --log, ariadne agent tells of the nodes, on this and other machines, and this
process only judges. Several processes with one log share the properties: when one ends, the
others take over its properties.

Exit status: 0 every property held, 1 violation, 2 bad spec or usage, 3 some moments could not
be judged, or a node was never found, 5 something that must happen has not happened for long, or
a violation may be none because a node was missing.`,
		Example: `  ariadne watch spec.yaml
  ariadne watch spec.yaml --time 5m --json
  ariadne watch spec.yaml --kill 10s   # kill a started node about every 10 s
  ariadne watch spec.yaml --kill 10s --cut 5s   # and separate nodes about every 5 s
  ariadne watch spec.yaml --listen 10.0.0.1:4222   # judge what agents on other machines tell`,
		Args: exactly("SPEC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkWatch(&o); err != nil {
				return err
			}
			s, err := spec.Read(args[0])
			if err != nil {
				return err
			}
			if err := checkFaults(s, &o); err != nil {
				return err
			}
			p := &watchPrinter{app: a, spec: s, quiet: quiet, json: asJSON, kills: o.Kill > 0, cuts: o.Cut > 0}
			o.OnBegin = p.begin
			o.OnWait = func(text string) { fmt.Fprintf(a.err, "ariadne: %s\n", text) }
			if !quiet {
				o.OnShow = p.show
				o.OnFault = p.change
			}
			o.OnLog = p.log
			o.Reload, o.OnReload = reloads(), p.reloaded
			r, err := p.watch(cmd, o, metrics, command)
			if err != nil {
				return err
			}
			p.report(r)
			a.status = r.Outcome.ExitStatus()
			return nil
		},
	}
	f := cmd.Flags()
	f.DurationVar(&o.Time, "time", 0, "end after this `duration` (default: when interrupted)")
	f.BoolVar(&o.First, "first", false, "end at the first violation")
	f.DurationVar(&o.Kill, "kill", 0, "kill a node that was started here about each `duration`, and start it again")
	f.DurationVar(&o.Cut, "cut", 0,
		"separate nodes that were started here about each `duration`, for 50 ms to 6 s or as the spec says")
	f.BoolVar(&o.Budget, "budget", false, "end kills and cuts after as many as faults of the spec allows in one execution")
	f.BoolVar(&o.Restart, "restart", false, "start nodes again that were started here and have ended")
	f.Uint64Var(&o.Seed, "seed", 0, "`seed` of the times of --kill and --cut")
	f.StringVar(&o.Shared.Listen, "listen", "", "keep a log for agents, at this `address`: host:port or token@host:port")
	f.StringVar(&o.Shared.Store, "store", "", "with --listen: keep the log's files in this `directory`")
	f.StringVar(&o.Shared.Log, "log", "", "judge what agents tell in the log at this `URL` (NATS with JetStream)")
	f.StringVar(&o.Shared.Name, "name", "", "with --listen or --log: `name` of the watch (default: that of the spec)")
	tlsFlags(f, &o.Shared.TLS, "; with --listen: of those that have signed the certificates of agents, which then need one",
		"; with --listen: of the server")
	f.StringVar(&metrics, "metrics", "", "serve metrics for Prometheus at http://`address`/metrics")
	f.StringVar(&command, "on-violation", "", "run this shell `command` for each violation, which is its input in JSON")
	f.BoolVar(&asJSON, "json", false, "print one JSON object per event and line")
	f.BoolVar(&quiet, "quiet", false, "print only violations and the outcome")
	return cmd
}

// checkFaults says which faults that are asked for cannot happen in a system.
func checkFaults(s *spec.Spec, o *watch.Options) error {
	if o.Cut > 0 && !watch.CanCut(s) {
		return usageError{fmt.Errorf("watch: --cut: %s has no cut between nodes with networks of their own: leave out --cut, or let the watch start nodes from their commands", s.Path)}
	}
	for _, kind := range []struct {
		option, name string
		asked        bool
		budget       uint8
	}{{"kill", "crash", o.Kill > 0, s.Faults[world.Crash]}, {"cut", "cut", o.Cut > 0, s.Faults[world.Cut]}} {
		if o.Budget && kind.asked && kind.budget == 0 {
			return usageError{fmt.Errorf("watch: --budget: faults of %s has no %s: add it, or leave out --%s or --budget", s.Path, kind.name, kind.option)}
		}
	}
	return nil
}

// tlsFlags has flags for the connection to the log's server. ca and cert say what they mean to the
// server itself.
func tlsFlags(f *pflag.FlagSet, to *stream.TLS, ca, cert string) {
	f.StringVar(&to.CA, "tls-ca", "", "with --log: `file` (PEM) of the authorities that have signed the server's certificate"+ca)
	f.StringVar(&to.Cert, "tls-cert", "", "with --log: `file` (PEM) of this process's certificate, for a server that asks for it"+cert)
	f.StringVar(&to.Key, "tls-key", "", "with --tls-cert: `file` of its key (PEM)")
}

// checkWatch says which options are wrong, or do not go together.
func checkWatch(o *watch.Options) error {
	s := &o.Shared
	switch {
	case o.Time < 0:
		return usageError{fmt.Errorf("watch: --time: %v is not a duration above 0", o.Time)}
	case o.Kill < 0:
		return usageError{fmt.Errorf("watch: --kill: %v is not a duration above 0", o.Kill)}
	case o.Cut < 0:
		return usageError{fmt.Errorf("watch: --cut: %v is not a duration above 0", o.Cut)}
	case o.Budget && o.Kill == 0 && o.Cut == 0:
		return usageError{errors.New("watch: --budget is for kills and cuts: add --kill or --cut")}
	case s.Listen != "" && s.Log != "":
		return usageError{errors.New("watch: --listen and --log exclude each other: give one of them")}
	case s.Store != "" && s.Listen == "":
		return usageError{errors.New("watch: --store is for the log of --listen: add --listen")}
	case s.TLS != (stream.TLS{}) && s.Log == "" && s.Listen == "":
		return usageError{errors.New("watch: --tls-ca, --tls-cert and --tls-key are for a log: add --listen or --log")}
	case s.Name != "" && s.Listen == "" && s.Log == "":
		return usageError{errors.New("watch: --name is for a log: add --listen or --log")}
	case (s.TLS.Cert == "") != (s.TLS.Key == ""):
		return usageError{errors.New("watch: --tls-cert and --tls-key go together: give both")}
	case s.TLS.CA != "" && s.TLS.Cert == "" && s.Listen != "":
		return usageError{errors.New("watch: --tls-ca with --listen asks agents for certificates: add --tls-cert and --tls-key of the server")}
	case *s != (watch.Shared{}) && (o.Kill > 0 || o.Cut > 0 || o.Restart):
		return usageError{errors.New("watch: --kill, --cut and --restart are for nodes that this process starts: leave them out with --listen and --log")}
	}
	return nil
}

// watch watches with metrics and a command for violations, if they were asked for.
func (p *watchPrinter) watch(cmd *cobra.Command, o watch.Options, metrics, command string) (r *watch.Report,
	err error) {
	o.OnFinding = p.finding
	if command != "" {
		c := watch.NewCommand(command, func(text string) { fmt.Fprintf(p.err, "ariadne: %s\n", text) })
		defer c.Close()
		o.OnFinding = func(f watch.Finding) {
			p.finding(f)
			c.Run(f)
		}
	}
	if metrics != "" {
		var statuses atomic.Pointer[func() []*watch.Status]
		o.OnStatus = func(f func() []*watch.Status) { statuses.Store(&f) }
		var names []string
		for i := range p.spec.Nodes {
			names = append(names, p.spec.Nodes[i].Name)
		}
		m, err := watch.ServeMetrics(metrics, names, func() []*watch.Status {
			if f := statuses.Load(); f != nil {
				return (*f)()
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(p.err, "ariadne: metrics at http://%s/metrics\n", m.Addr())
		defer m.Close()
	}
	return watch.Watch(cmd.Context(), p.spec, o)
}

// log says where the log is.
func (p *watchPrinter) log(at, name string) {
	fmt.Fprintf(p.err, "ariadne: the log of watch %s is at %s: start ariadne agent SPEC --log URL --node NAME where nodes run\n", name, at)
}

// reloads has a value for each SIGHUP, which does not end a watch.
func reloads() <-chan struct{} {
	signals, asked := make(chan os.Signal, 1), make(chan struct{})
	signal.Reset(syscall.SIGHUP)
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for range signals {
			asked <- struct{}{}
		}
	}()
	return asked
}

// reloaded says whether the spec was read again.
func (p *watchPrinter) reloaded(err error) {
	if err != nil {
		fmt.Fprintf(p.err, "ariadne: the properties stay as they are: %v\n", err)
		return
	}
	p.turn++
	fmt.Fprintf(p.err, "ariadne: the properties were read again: this is turn %d\n", p.turn)
}

// watchPrinter prints what a watch sees.
type watchPrinter struct {
	*app
	spec        *spec.Spec
	quiet, json bool
	kills, cuts bool       // nodes are to be killed, or cut off
	mu          sync.Mutex // changes and findings come from different goroutines
	second      int64      // in which lines were printed
	printed     int        // in that second
	left        int        // changes that were not printed
	turn        int        // how often the properties were read again
}

// shownEvent is a change of what a node exposes, or of whether it runs, or a fault.
type shownEvent struct {
	Event string `json:"event"` // "exposed"
	watch.Change
}

// begunEvent says that the nodes are watched.
type begunEvent struct {
	Event string   `json:"event"` // "watching"
	Spec  string   `json:"spec"`
	Nodes []string `json:"nodes"`
}

// begin says that the nodes are watched.
func (p *watchPrinter) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := begunEvent{Event: "watching", Spec: p.spec.Path}
	for i := range p.spec.Nodes {
		e.Nodes = append(e.Nodes, p.spec.Nodes[i].Name)
	}
	if p.json {
		newEncoder(p.out).Encode(e)
	} else if !p.quiet {
		fmt.Fprintf(p.out, "watching %s\n", plural(len(e.Nodes), "node"))
	}
}

// mostLines is how many changes are printed in a second.
const mostLines = 50

// show prints what a record changes.
func (p *watchPrinter) show(r live.Record) { p.change(watch.ChangeOf(p.spec, &r, r.At)) }

// change prints a change.
func (p *watchPrinter) change(c watch.Change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.json {
		newEncoder(p.out).Encode(shownEvent{"exposed", c})
		return
	}
	if second := int64(c.At) / int64(time.Second); second != p.second {
		if p.left > 0 {
			fmt.Fprintf(p.out, "%14s  and %s\n", "", plural(p.left, "more change"))
		}
		p.second, p.printed, p.left = second, 0, 0
	}
	if p.printed++; p.printed > mostLines {
		p.left++
		return
	}
	fmt.Fprintf(p.out, "%14v  %-8s  %s\n", c.At, c.Node, inLine(c.What))
}

// mostInLine is how much of a change is printed, in bytes: files may be long.
const mostInLine = 500

// inLine is a text without ends of lines, and not too long.
func inLine(text string) string {
	if len(text) > mostInLine {
		text = strings.ToValidUTF8(text[:mostInLine], "") + "..."
	}
	return strings.ReplaceAll(text, "\n", `\n`)
}

// finding prints a violation with its snapshot and history.
func (p *watchPrinter) finding(f watch.Finding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.json {
		newEncoder(p.out).Encode(f)
		return
	}
	what := "violation: " + f.Kind
	if f.Turn > 0 {
		f.Message += fmt.Sprintf(" (turn %d)", f.Turn)
	}
	switch {
	case f.Kind == property.Suspected:
		what = "suspected violation: " + property.Dead
	case f.Without != nil:
		what = "suspected violation: " + f.Kind
		f.Message += fmt.Sprintf(" (nothing is heard of %s)", strings.Join(f.Without, ", "))
	case f.Polled != nil:
		what = "suspected violation: " + f.Kind
		f.Message += fmt.Sprintf(" (%s is only read now and then)", strings.Join(f.Polled, ", "))
	}
	fmt.Fprintf(p.out, "%s (at %v, judged %v later)\n", style(p.out).Warn(folded(what+": "+f.Message)), f.At,
		f.Delay.Round(time.Millisecond))
	if p.quiet {
		return
	}
	fmt.Fprintln(p.out, "  the snapshot:")
	for _, n := range f.Snapshot {
		state := ""
		if !n.Up {
			state = " (down)"
		}
		for _, t := range n.Tuples {
			fmt.Fprintf(p.out, "    %s%s: %s\n", n.Node, state, inLine(t))
		}
		if len(n.Tuples) == 0 {
			fmt.Fprintf(p.out, "    %s%s: nothing\n", n.Node, state)
		}
	}
	fmt.Fprintln(p.out, "  what led to it:")
	for _, h := range f.History {
		fmt.Fprintf(p.out, "    %v  %-8s  %s\n", h.At, h.Node, inLine(h.What))
	}
}

// report prints the outcome.
func (p *watchPrinter) report(r *watch.Report) {
	if p.json {
		newEncoder(p.out).Encode(r)
		return
	}
	for _, n := range r.Notes {
		fmt.Fprintf(p.out, "note: %s\n", n)
	}
	for _, d := range r.Doubts {
		fmt.Fprintf(p.out, "inconclusive: %s\n", d)
	}
	for _, q := range r.Properties {
		text := fmt.Sprintf("%s: %s judged", q.Name, plural(q.Judged, "moment"))
		if r.Turns > 0 {
			text = fmt.Sprintf("turn %d: %s", q.Turn, text)
		}
		if q.Parts > 1 {
			text += fmt.Sprintf(" in %d parts", q.Parts)
		}
		if q.Undecided > 0 {
			text += fmt.Sprintf(", %d undecided", q.Undecided)
		}
		if q.Unknown > 0 {
			text += fmt.Sprintf(", %d unknown", q.Unknown)
		}
		if q.Turning > 0 {
			text += fmt.Sprintf(", %d while the properties changed", q.Turning)
		}
		if q.Number != nil {
			text += ", " + q.Number.Summary()
		}
		if q.Findings > 0 {
			text += ", " + plural(q.Findings, "violation")
		}
		fmt.Fprintln(p.out, text)
	}
	for _, name := range slices.Sorted(maps.Keys(r.LeftOut)) {
		fmt.Fprintf(p.out, "%s: %s of other keys not watched\n", name, plural(r.LeftOut[name], "change"))
	}
	if r.TakenOver > 0 {
		fmt.Fprintf(p.out, "properties taken over from another process: %d, %d from a checkpoint\n", r.TakenOver,
			r.Restored)
	}
	outcome := map[record.Outcome]string{record.Nothing: "No violation.", record.Violated: "Violation.",
		record.Suspected: "Suspected violation.", record.Inconclusive: "Inconclusive."}[r.Outcome]
	var faults []string
	if p.kills {
		faults = append(faults, plural(r.Kills, "kill"))
	}
	if p.cuts {
		faults = append(faults, plural(r.Cuts, "cut"))
	}
	with := ""
	if faults != nil {
		with = ", with " + strings.Join(faults, " and ")
	}
	fmt.Fprintf(p.out, "%s Watched for %v%s.\n", outcome, r.Elapsed.Round(time.Millisecond), with)
}
