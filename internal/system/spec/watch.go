package spec

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"

	"go.yaml.in/yaml/v3"
)

// Watch is how a running system is watched, outside the checker.
type Watch struct {
	// Native are the ways to find the nodes' programs, by node. Where Found is false, the node is
	// started from its commands.
	Native []Native
	// Heartbeat is how often each node is looked at when nothing happens.
	Heartbeat time.Duration
	// Settle is for how long what a node exposes must last to be judged.
	Settle time.Duration
	// Poll is how often variables and files of nodes are read.
	Poll time.Duration
	// Timeout is for how long an agent may say nothing until its node counts as gone.
	Timeout time.Duration
	// Patience is for how long a goal without a time of its own may be unmet.
	Patience time.Duration
	// ClockError is by how much the clocks of two machines differ at most.
	ClockError time.Duration
	// Sample is of how many keys of a name one is watched.
	Sample map[string]int
	// Parts is into how many parts a property is divided that is judged by keys; 0: one.
	Parts int
	// MaxCalls is how many calls of functions of one node are watched in a second; 0: all.
	MaxCalls int
	// PauseProbes: where a node makes more calls, probes are out for the rest of the second.
	PauseProbes bool
	// EachMessage: events have the positions in TCP streams that were theirs when they happened.
	EachMessage bool
}

// Native is how the programs of a node are found on a machine that runs them natively. One of
// Start, PID, PIDFile, Command, Unit and Group is set if Found.
type Native struct {
	Found   bool
	Line    int
	Start   []string       // a command that is started, with its arguments
	Dir     string         // in which it is started
	PID     int            // of a process that runs
	PIDFile string         // a file with the process's id
	Command *regexp.Regexp // what the command line of the process matches
	Unit    string         // of systemd
	Group   string         // a pattern of a control group
	Logs    []string       // files with lines of the node, besides the output of Start
	Before  Before         // what is known of a process that runs already
}

// Before says what is known of what a process has exposed before it was watched.
type Before uint8

// The values of Before.
const (
	BeforeUnknown Before = iota // nothing: properties wait until it exposes something
	BeforeInLog                 // all of it is in the node's log files
	BeforeNothing               // it exposes nothing when it is found
)

// befores are their names.
var befores = []string{"unknown", "log", "nothing"}

// nativeText is a Native as written.
type nativeText struct {
	name                               text
	start, dir, pidfile, command, unit text
	group                              text
	pid                                int
	logs                               []text
	before                             Before
}

// watchText is a Watch as written.
type watchText struct {
	Watch
	nodes   []nativeText
	sampled []text
}

// maxParts is the greatest number of parts. A process asks the log about each part of each property
// within a second, one after the other.
const maxParts = 64

// mostPoll is the greatest poll. Events since the last read wait for the next one, and their order
// is found out together.
const mostPoll = time.Second

// maxCalls is the greatest max_calls.
const maxCalls = 10_000_000

var watchFields = []field[watchText]{
	{"nodes", "How the programs of nodes are found, by names of nodes. In n{i}, {i} stands for a number, as in nodes. A node that is not here is started from its commands.",
		schema{"type": "object", "additionalProperties": schema{"$ref": "#/$defs/watched"}},
		func(r *reader, w *watchText, v *yaml.Node) {
			r.each("watch: nodes", v, func(name text, v *yaml.Node) {
				n := nativeText{name: name}
				readFields(r, watchedFields, &n, v)
				w.nodes = append(w.nodes, n)
			})
		}},
	durationField("heartbeat", "How often each node is looked at when nothing happens; default 20ms.", time.Millisecond, func(w *watchText) *time.Duration { return &w.Heartbeat }),
	durationField("settle", "For how long what a node exposes must last to be judged, because programs write lines that belong together one after the other; default 1ms.", 0, func(w *watchText) *time.Duration { return &w.Settle }),
	{"poll", "How often variables and files of nodes are read, from 1ms to 1s; default 100ms.", durationSchema(time.Millisecond),
		func(r *reader, w *watchText, v *yaml.Node) {
			if w.Poll = r.duration(v, time.Millisecond); w.Poll > mostPoll {
				r.fail(v.Line, "poll: %v at most", mostPoll)
			}
		}},
	durationField("timeout", "For how long nothing may come of a node's agent, until the node counts as gone; default 2s.", time.Millisecond, func(w *watchText) *time.Duration { return &w.Timeout }),
	durationField("patience", "For how long a property with eventually or leads_to, and without within, may be unmet until it is suspected; default 60s.", time.Millisecond, func(w *watchText) *time.Duration { return &w.Patience }),
	{"sample", "Names of exposed tuples that have keys, with a number n: only one key in n is watched, the same ones on all nodes. Of the properties that read such a name, agree, one and rises are judged.",
		schema{"type": "object", "additionalProperties": schema{"type": "integer", "minimum": 2, "maximum": MaxInt}},
		func(r *reader, w *watchText, v *yaml.Node) {
			w.Sample = map[string]int{}
			r.each("watch: sample", v, func(name text, v *yaml.Node) {
				w.Sample[name.string] = r.count(v, 2, MaxInt)
				w.sampled = append(w.sampled, name)
			})
		}},
	countField("parts", "Into how many parts a property that is judged by keys is divided: agree, one with per, rises, and that a stage with a key has no tuples. The processes of a watch share the parts; default 1.", 1, maxParts, func(w *watchText) *int { return &w.Parts }),
	countField("max_calls", "How many calls of functions of one node are watched in a second, at most. Of further ones the values are unknown; default: all.", 10, maxCalls, func(w *watchText) *int { return &w.MaxCalls }),
	flagField("pause_probes", "With max_calls: when a node has made more calls than that in a second, its probes and those of the other nodes of the machine are taken out for the rest of the second. Calls then cost the programs nothing, and nobody counts them.", func(w *watchText) *bool { return &w.PauseProbes }),
	flagField("each_message", "Every message over TCP is recorded, so that messages decide the order of more events. It costs the programs more; default: positions are read when something is shown, at most every 5ms.", func(w *watchText) *bool { return &w.EachMessage }),
	durationField("clock_error", "By how much the clocks of two machines differ at most; default 0: all nodes run on this machine.", 0, func(w *watchText) *time.Duration { return &w.ClockError }),
}

var watchedFields = []field[nativeText]{
	{"start", "A command to start, without a shell.", schema{"type": "string"},
		func(r *reader, n *nativeText, v *yaml.Node) { n.start = r.text(v) }},
	{"dir", "With start: the working directory; default the spec's directory.", schema{"type": "string"},
		func(r *reader, n *nativeText, v *yaml.Node) { n.dir = r.text(v) }},
	countField("pid", "The id of a process that runs.", 1, MaxInt, func(n *nativeText) *int { return &n.pid }),
	{"pidfile", "A file that has the id of the process.", schema{"type": "string"},
		func(r *reader, n *nativeText, v *yaml.Node) { n.pidfile = r.text(v) }},
	{"match", "A regular expression that matches the command line of the process, its arguments with spaces between them, and of no other one.", schema{"type": "string"},
		func(r *reader, n *nativeText, v *yaml.Node) { r.regexp("watch: match", v); n.command = r.text(v) }},
	{"unit", "A service of systemd, whose main process it is.", schema{"type": "string"},
		func(r *reader, n *nativeText, v *yaml.Node) { n.unit = r.text(v) }},
	{"cgroup", "A control group, whose first process it is, as of a container: the path of the group below /sys/fs/cgroup, or the end of the path. * and ? stand for any characters.", schema{"type": "string"},
		func(r *reader, n *nativeText, v *yaml.Node) {
			if n.group = r.text(v); n.group.string == "" {
				r.fail(n.group.line, "cgroup: the name of a control group is needed")
			} else if _, err := filepath.Match(n.group.string, ""); err != nil {
				r.fail(n.group.line, "cgroup: %q is no pattern: %v", n.group.string, err)
			}
		}},
	textsField("log", "Files that have the node's lines, besides what a started command writes to its output.", func(n *nativeText) *[]text { return &n.logs }),
	{"before", "How much is known of the tuples that the process has exposed before it was found. unknown (the default): nothing, so properties that read it wait until it exposes it again. log: all is in the files of log. nothing: it exposes nothing yet.",
		schema{"enum": befores}, func(r *reader, n *nativeText, v *yaml.Node) {
			t := r.text(v)
			if i := slices.Index(befores, t.string); i >= 0 {
				n.before = Before(i)
			} else {
				r.fail(t.line, "before: %q is none of %s", t.string, strings.Join(befores, ", "))
			}
		}},
}

func setWatch(r *reader, s *specText, v *yaml.Node) {
	s.watch = watchText{Watch: DefaultWatch}
	readFields(r, watchFields, &s.watch, v)
	if s.watch.PauseProbes && s.watch.MaxCalls == 0 {
		r.fail(v.Line, "watch: pause_probes needs max_calls")
	}
}

// DefaultWatch is how a system is watched whose spec does not say.
var DefaultWatch = Watch{Heartbeat: 20 * time.Millisecond, Settle: time.Millisecond,
	Poll: 100 * time.Millisecond, Timeout: 2 * time.Second,
	Patience: time.Minute}

// watched enters how nodes are watched.
func (r *reader) watched(s *Spec, w *watchText) {
	if s.Watch = w.Watch; w.Heartbeat == 0 {
		s.Watch = DefaultWatch
	}
	for _, name := range w.sampled {
		i := slices.IndexFunc(s.Properties.Sources, func(e expose.Source) bool { return e.Name == name.string })
		switch {
		case i < 0:
			r.fail(name.line, "watch: sample: no tuple is called %q", name.string)
		case len(s.Properties.Sources[i].Key) == 0:
			r.fail(name.line, "watch: sample: %s has no key: say under expose which field is its key", name.string)
		}
	}
	s.Watch.Native = make([]Native, len(s.Nodes))
	for _, n := range w.nodes {
		found := false
		for i := range s.Nodes {
			number, ok := numberIn(n.name.string, s.Nodes[i].Name)
			if !ok {
				continue
			}
			if found = true; s.Watch.Native[i].Found {
				r.fail(n.name.line, "watch: node %s is written twice", s.Nodes[i].Name)
			}
			s.Watch.Native[i] = r.native(n.substitute(number, s.Nodes[i].Name))
		}
		if !found {
			r.fail(n.name.line, "watch: no node is called %q", n.name.string)
		}
	}
}

// numberIn returns what {i} stands for in a template of a name; ok: the name is one of the
// template.
func numberIn(template, name string) (number string, ok bool) {
	before, after, isTemplate := strings.Cut(template, "{i}")
	if !isTemplate {
		return "", template == name
	}
	number, ok = strings.CutPrefix(name, before)
	if ok {
		number, ok = strings.CutSuffix(number, after)
	}
	_, err := strconv.Atoi(number)
	return number, ok && err == nil
}

func (n nativeText) substitute(number, name string) nativeText {
	replacer := strings.NewReplacer("{i}", number, "{name}", name)
	for _, t := range []*text{&n.start, &n.dir, &n.pidfile, &n.command, &n.unit, &n.group} {
		t.string = replacer.Replace(t.string)
	}
	n.logs = slices.Clone(n.logs)
	for i := range n.logs {
		n.logs[i].string = replacer.Replace(n.logs[i].string)
	}
	return n
}

// native returns how one node is found.
func (r *reader) native(n nativeText) Native {
	own := Native{Found: true, Line: n.name.line, PID: n.pid, Unit: n.unit.string, Group: n.group.string,
		Before: n.before}
	ways := 0
	for _, is := range []bool{n.start.line > 0, n.pid > 0, n.pidfile.line > 0, n.command.line > 0, n.unit.line > 0,
		n.group.line > 0} {
		if is {
			ways++
		}
	}
	switch {
	case ways != 1:
		r.fail(n.name.line, "watch: %s: one of start, pid, pidfile, match, unit and cgroup is needed", n.name.string)
		return own
	case n.before == BeforeInLog && n.logs == nil:
		r.fail(n.name.line, "watch: %s: log is missing: before says that it has what the process exposed", n.name.string)
	case n.start.line == 0 && n.dir.line > 0:
		r.fail(n.dir.line, "watch: %s: dir goes with start", n.name.string)
	}
	if n.start.line > 0 {
		own.Start, own.Dir = r.nativeCommand(n), r.dir
		if n.dir.string != "" {
			own.Dir = r.absolute(n.dir.string)
		}
	}
	if n.pidfile.line > 0 {
		own.PIDFile = r.absolute(n.pidfile.string)
	}
	if n.command.line > 0 {
		own.Command, _ = regexp.Compile(n.command.string) // else it was said
	}
	for _, l := range n.logs {
		own.Logs = append(own.Logs, r.absolute(l.string))
	}
	return own
}

// nativeCommand returns the command that starts a node, by a shell where it needs one. A program
// with a slash in its name is looked for beside the spec.
func (r *reader) nativeCommand(n nativeText) []string {
	words, shell, err := split(n.start.string)
	switch {
	case err != nil:
		r.fail(n.start.line, "watch: %s: start: %s", n.name.string, err)
		return nil
	case shell:
		return []string{"/bin/sh", "-c", n.start.string}
	case len(words) == 0:
		r.fail(n.start.line, "watch: %s: start: the command is empty", n.name.string)
		return nil
	}
	if strings.Contains(words[0], "/") {
		words[0] = r.absolute(words[0])
	}
	return words
}

// isWatched reports whether the spec says how a node's programs are found outside the checker.
func (r *reader) isWatched(name string) bool {
	return slices.ContainsFunc(r.watches, func(template string) bool {
		_, ok := numberIn(template, name)
		return ok
	})
}
