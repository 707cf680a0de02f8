package spec

import (
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/machine/processor"

	"go.yaml.in/yaml/v3"
)

// schema is a JSON schema, or a part of one.
type schema = map[string]any

// field is one key of a mapping: its name, what it means, what an editor may
// offer for it, and how it is read into a T.
type field[T any] struct {
	name   string
	doc    string
	schema schema
	set    func(r *reader, into *T, v *yaml.Node)
}

// setter reads a field of a spec.
type setter = func(r *reader, s *specText, v *yaml.Node)

// text is a piece of the spec with the line it stands on.
type text struct {
	string
	line int
}

// nodeText is a node as written: count copies of it, nothing resolved yet.
type nodeText struct {
	line     int
	name     text
	count    int // 0: not a template
	commands []text
	workload workloadText
	restart  []text
	after    []text
	waits    []text // for what is ready, or takes connections
	// readyLine is where the spec says when the node is ready, or 0.
	readyLine int
	dir       text
	writable  []text
	run       []text
	envFile   text
	env       map[string]text
	addrs     []text
	Node      // what is final as written
}

var specFields = []field[specText]{
	textField("name", "Name of the system, for reports; default: the file's name.", func(s *specText) *string {
		return &s.Name
	}),
	{"nodes", "The machines of the system.",
		schema{"type": "array", "minItems": 1, "items": schema{"$ref": "#/$defs/node"}}, setNodes},
	{"seed", "Seed of random bytes, clock offsets and random walks; default 0.", schema{"type": "integer", "minimum": 0},
		func(r *reader, s *specText, v *yaml.Node) { s.Seed = r.seed(v) }},
	{"date", "The time that the nodes' real-time clocks show at first, as 2026-11-21 or 2026-11-21T09:30:00Z. A date alone means ten minutes before that day ends in UTC, so that a certificate made on it is valid. Default 2023-11-14T22:13:20Z.",
		schema{"type": "string"}, func(r *reader, s *specText, v *yaml.Node) { s.Date = r.date(v) }},
	{"processor", "The processor that programs see. host (the default) is the real one without random instructions. The others are fixed, with the features of a level of the x86-64 psABI, the same on all machines. They need a machine that has these features and on which cpuid can be trapped (ariadne doctor).",
		schema{"enum": processor.Names()}, setProcessor},
	durationField("latency", "Virtual time that every message takes; default 1ms.", 0,
		func(s *specText) *time.Duration { return &s.Latency }),
	durationField("clock_error", "Timers due within this time of the earliest one may fire in any order; default 0.", 0, func(s *specText) *time.Duration { return &s.ClockError }),
	countField("delays", "How many messages may be delayed past a timer in one execution; default 3.", 0, MaxInt, func(s *specText) *int { return &s.Delays }),
	durationField("max_delay", "The most that a delayed message is late; default 7s, as when three segments that open a connection are lost in a row.", 1, func(s *specText) *time.Duration { return &s.MaxDelay }),
	{"faults", "How many faults of each kind there may be in one execution; default none.", schema{"$ref": "#/$defs/faults"},
		func(r *reader, s *specText, v *yaml.Node) { readFields(r, faultFields(), s, v) }},
	{"limits", "Limits that end an execution.", schema{"$ref": "#/$defs/limits"},
		func(r *reader, s *specText, v *yaml.Node) { readFields(r, limitFields, &s.Limits, v) }},
	{"ends", "How executions are meant to end: clients (the default) when the clients are done or nothing is left to happen; time also at limits.time. A check is inconclusive when a limit cuts off nearly all its executions.",
		schema{"enum": []string{"clients", "time"}}, setEnds},
	{"expose", "The values that nodes expose of their state, for properties: by name, a regular expression on their lines, or a longer description.",
		schema{"type": "object",
			"additionalProperties": schema{"anyOf": []schema{{"type": "string"}, {"$ref": "#/$defs/exposed"}}}},
		setExpose},
	{"stages", "Functions of definitions that make tuples from exposed tuples, or from those of other stages, by the name of the tuples that they make (docs/guides/properties.md).",
		schema{"type": "object", "additionalProperties": schema{"$ref": "#/$defs/stage"}}, setStages},
	{"history", "How lines describe clients' operations, for the property linearizable.", schema{"$ref": "#/$defs/history"}, setHistory},
	{"properties", "Properties of the values that nodes expose, by name; or, by the name of a ready-made property, its parameters.", readySchema(), setProperties},
	{"finally", "A command that examines the files and lines of all nodes when an execution has ended. It runs on this machine, in a directory that has a directory for each node (docs/guides/properties.md). A status other than 0 is a violation.", schema{"type": "string"},
		func(r *reader, s *specText, v *yaml.Node) { s.finally = r.text(v) }},
	{"definitions", "A file in Starlark beside the spec, with functions that properties call.", schema{"type": "string"}, setDefinitions},
	{"explore", "How a check searches, unless its flags say otherwise.", schema{"$ref": "#/$defs/explore"},
		func(r *reader, s *specText, v *yaml.Node) {
			s.Explore.Line = v.Line
			readFields(r, exploreFields, &s.explore, v)
		}},
	{"watch", "How ariadne watch finds the programs of the nodes on this machine, and their lines. A check ignores it.", schema{"$ref": "#/$defs/watch"}, setWatch},
}

var limitFields = []field[Limits]{
	countField("steps", "Actions in one execution; default 10000.", 1, MaxInt, func(l *Limits) *int {
		return &l.Steps
	}),
	durationField("time", "Virtual time of one execution; default 60s.", 1, func(l *Limits) *time.Duration {
		return &l.Time
	}),
	durationField("divergence", "Processor time that one step may take, besides 50µs for each system call. A longer step is cut off, and the result is inconclusive. If two are cut off at the same place, a loop is suspected. Default 10s.", 1, func(l *Limits) *time.Duration { return &l.Divergence }),
	durationField("finally", "Real time that the command of finally may take. If it takes longer, the result is inconclusive. Default 60s.", 1, func(l *Limits) *time.Duration { return &l.Finally }),
	countField("calls", "System calls in one step, counted from when the step last opened or ran a file that is new to it. A step with more, or with ten times as many in all, is a violation. Default 2000000.", 1, MaxInt, func(l *Limits) *int { return &l.Calls }),
}

var nodeFields = []field[nodeText]{
	{"name", "Host name of the node, which the others resolve; default n1, n2, ... With count, {i} stands for the number of the copy and is appended when missing.",
		schema{"type": "string"}, func(r *reader, n *nodeText, v *yaml.Node) { n.name = r.text(v) }},
	countField("count", "How many copies of the node there are. {i} (from 1) and {name} are replaced in command, restart, after_crash, dir, env and address.", 1, MaxNodes, func(n *nodeText) *int { return &n.count }),
	textsField("command", "The command that the node runs, or a list of commands that start together. A program with a slash is relative to the spec, one without is looked up in PATH. A command with shell characters (| & ; < > $ * ...) outside quotes runs by /bin/sh -c. It runs in /node, where files beside the spec that it names, and those in directories that it names, are links to them.", func(n *nodeText) *[]text { return &n.commands }),
	{"workload", "Makes the node a client that makes random operations, and writes them and their answers as lines. It replaces command. Without history in the spec, these lines are the history (docs/guides/properties.md).", schema{"$ref": "#/$defs/workload"},
		func(r *reader, n *nodeText, v *yaml.Node) {
			n.workload = workloadText{line: v.Line, operations: 5, keys: 1}
			readFields(r, workloadFields, &n.workload, v)
			n.Client = true
		}},
	textsField("restart", "The command, or list of commands, that the node runs when it starts again after a crash or a stop (faults); default command.", func(n *nodeText) *[]text { return &n.restart }),
	textsField("after_crash", "A command, or a list of commands that run one after the other, which examines the node's files when the node starts again after a crash, a stop or a loss of power (faults). It runs before restart or command. A status other than 0 is a violation, whatever may_fail says. Its environment has the promises of the node's programs until then (docs/guides/programs.md).", func(n *nodeText) *[]text { return &n.after }),
	textsField("after", "The nodes or ports for which this node waits. The name of a node, as in srv: this node is switched on when srv is first ready (ready). After a fault it does not wait again. A node and a port, as in srv:5432: the commands begin when srv takes TCP connections at the port, each time. This node tries to connect every tenth of a second, and closes the connection at once.", func(n *nodeText) *[]text { return &n.waits }),
	{"ready", "When the node is ready for those that wait for it (after): port or line.", schema{"$ref": "#/$defs/ready"},
		func(r *reader, n *nodeText, v *yaml.Node) {
			n.readyLine = v.Line
			readFields(r, readinessFields, &n.Ready, v)
			if n.Ready.Port != 0 && n.Ready.Line != nil {
				r.fail(v.Line, "ready: a port or a line is needed, not both")
			}
		}},
	{"dir", "Directory, relative to the spec's, whose copy is the node's working directory /node, without the spec itself: . is the spec's own, for programs that load what lies beside them. Default: an empty one.",
		schema{"type": "string"}, func(r *reader, n *nodeText, v *yaml.Node) { n.dir = r.text(v) }},
	textsField("writable", "Further absolute directories that the node may write, each a private copy of the host's, or empty when the host has none. The copies are in memory, and use room of disk.", func(n *nodeText) *[]text { return &n.writable }),
	{"env", "Environment besides PATH, HOME, LANG, TZ and LSAN_OPTIONS=detect_leaks=0.",
		schema{"type": "object",
			"additionalProperties": schema{"type": []string{"string", "number", "boolean", "null"}}}, setEnv},
	{"stdin", "Standard input: none (the default: /dev/null), open (no data, and no end), or the text itself.",
		schema{"type": "string"}, setStdin},
	flagField("may_fail", "The death of this node is no violation.", func(n *nodeText) *bool { return &n.MayFail }),
	flagField("client", "The node is a client: the execution ends when all clients have ended.", func(n *nodeText) *bool { return &n.Client }),
	countField("cpus", "Processors that the node sees; default 1.", 1, 1024, func(n *nodeText) *int { return &n.CPUs }),
	{"address", "IP address or addresses; default 10.0.0.N for the N-th node.",
		textsSchema, func(r *reader, n *nodeText, v *yaml.Node) { n.addrs = append(n.addrs, r.texts(v)...) }},
	{"addresses", "Another name of address.",
		textsSchema, func(r *reader, n *nodeText, v *yaml.Node) { n.addrs = append(n.addrs, r.texts(v)...) }},
	sizeField("memory", "Memory that the node has, as in 512M or 4G; default 8G. A mapping larger than that fails with ENOMEM. The check is inconclusive when the node touches more memory, or fills half of it with unread data of sockets, pipes and the like.", func(n *nodeText) *int64 { return &n.Memory }),
	sizeField("disk", "Room for the node's own files, with copies of dir and writable, as in 64M; default 2G. When it is full, the node's programs see ENOSPC. That makes the check inconclusive unless the field is given.", func(n *nodeText) *int64 { return &n.Disk }),
	{"user", "The user of the node's commands and files: a name of this machine's /etc/passwd, a number, or user:group of either, as in 111:115; default 0. A name means its group of /etc/passwd, too, a number the group of that number. There are no further groups.",
		schema{"type": []string{"string", "integer"}}, func(r *reader, n *nodeText, v *yaml.Node) {
			r.user(n, r.text(v))
		}},
	textsField("run", "Directories below /run that the node's user may write, as in [postgresql]: they are there when the machine is switched on (systemd: RuntimeDirectory). Directories that stay when it is switched off belong in writable (StateDirectory).", func(n *nodeText) *[]text { return &n.run }),
	{"env_file", "File beside the spec, or absolute, with further environment: lines of NAME=value, as in systemd's EnvironmentFile. env has precedence.",
		schema{"type": "string"}, func(r *reader, n *nodeText, v *yaml.Node) { n.envFile = r.text(v) }},
	{"clock_offset", "By how much the node's real-time clock is wrong when it is switched on first, as in +90s or -1h, at most 480h; default 0.", schema{"type": "string"},
		func(r *reader, n *nodeText, v *yaml.Node) {
			t := r.text(v)
			by, err := world.ParseJump(t.string)
			if err != nil {
				r.fail(t.line, "clock_offset: %v", err)
			}
			n.ClockOffset = by
		}},
	countField("clock_drift", "By how much the node's clocks and timers run fast, in parts per million, or slow when it is negative. Over limits.time clocks may differ by no more than clock_error. Default 0.", -world.MaxDrift, world.MaxDrift, func(n *nodeText) *int { return &n.ClockDrift }),
	durationField("start", "Virtual time at which the node is switched on; default 0.", 0,
		func(n *nodeText) *time.Duration { return &n.Start }),
}

// specText is a spec whose nodes are as written.
type specText struct {
	*Spec
	nodes   []nodeText
	explore exploreText
	watch   watchText

	budgets [world.MaxKinds]budgetText // of faults
	network [world.MaxKinds]networkText
	exposes []exposeText
	stages  []stageText
	readies []readyText
	growth  Growth
	finally text
	history historyText
	outages [len(Spec{}.Outages)]outageText
}

// MaxInt is the greatest number that a field takes, unless there is a reason for less.
const MaxInt = 1<<31 - 1

var textsSchema = schema{"anyOf": []schema{
	{"type": "string"},
	{"type": "array", "minItems": 1, "items": schema{"type": "string"}},
}}

// durationSchema is that of a duration of at least low.
func durationSchema(low time.Duration) schema {
	s := schema{"type": "string", "pattern": `^([0-9.]+(ns|us|µs|ms|s|m|h))+$`}
	if low > 0 {
		return s
	}
	return schema{"anyOf": []schema{s, {"const": 0}}}
}

func textField[T any](name, doc string, at func(*T) *string) field[T] {
	return field[T]{name, doc, schema{"type": "string"}, func(r *reader, into *T, v *yaml.Node) {
		*at(into) = r.text(v).string
	}}
}

func textsField[T any](name, doc string, at func(*T) *[]text) field[T] {
	return field[T]{name, doc, textsSchema, func(r *reader, into *T, v *yaml.Node) {
		*at(into) = r.texts(v)
	}}
}

func flagField[T any](name, doc string, at func(*T) *bool) field[T] {
	return field[T]{name, doc, schema{"type": "boolean"}, func(r *reader, into *T, v *yaml.Node) {
		*at(into) = r.flag(v)
	}}
}

func countField[T any](name, doc string, low, high int, at func(*T) *int) field[T] {
	return field[T]{name, doc, schema{"type": "integer", "minimum": low, "maximum": high},
		func(r *reader, into *T, v *yaml.Node) {
			*at(into) = r.count(v, low, high)
		}}
}

func durationField[T any](name, doc string, low time.Duration, at func(*T) *time.Duration) field[T] {
	return field[T]{name, doc, durationSchema(low), func(r *reader, into *T, v *yaml.Node) {
		*at(into) = r.duration(v, low)
	}}
}

func setEnds(r *reader, s *specText, v *yaml.Node) {
	t := r.text(v)
	s.EndsByTime = t.string == "time"
	if !s.EndsByTime && t.string != "clients" {
		r.fail(t.line, "ends: %q is neither clients nor time", t.string)
	}
}

func setProcessor(r *reader, s *specText, v *yaml.Node) {
	t := r.text(v)
	switch {
	case t.string == processor.Host:
	case processor.Named(t.string) == nil:
		r.fail(t.line, "processor: %q is none of %s", t.string, strings.Join(processor.Names(), ", "))
	default:
		s.Processor = t.string
	}
}

func sizeField[T any](name, doc string, at func(*T) *int64) field[T] {
	s := schema{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)?[KMGT]$`}
	return field[T]{name, doc, s, func(r *reader, into *T, v *yaml.Node) { *at(into) = r.size(v) }}
}

func setNodes(r *reader, s *specText, v *yaml.Node) {
	if v.Kind != yaml.SequenceNode || len(v.Content) == 0 {
		r.fail(v.Line, "nodes: a list of nodes is needed here, each beginning with a dash")
		return
	}
	if len(v.Content) > MaxNodes {
		r.fail(v.Content[MaxNodes].Line, "more than %d nodes", MaxNodes)
		return
	}
	for i, item := range v.Content {
		s.nodes = append(s.nodes, r.nodeText(i, item))
	}
}

func setEnv(r *reader, n *nodeText, v *yaml.Node) {
	if v.Kind != yaml.MappingNode {
		r.fail(v.Line, "env: NAME: value pairs are needed here")
		return
	}
	n.env = map[string]text{}
	for i := 0; i < len(v.Content); i += 2 {
		key := r.text(v.Content[i])
		if key.string == "" || strings.ContainsAny(key.string, "=\x00") {
			r.fail(key.line, "env: bad name %q", key.string)
		}
		if _, twice := n.env[key.string]; twice {
			r.fail(key.line, "env: %q is written twice", key.string)
		}
		value := text{line: key.line}
		if dereference(v.Content[i+1]).Tag != "!!null" { // NAME: alone is an empty value
			value = r.text(v.Content[i+1])
		}
		n.env[key.string] = value
	}
}

func setStdin(r *reader, n *nodeText, v *yaml.Node) {
	switch t, _ := r.scalar(v); t.string {
	case "none":
	case "open":
		n.StdinOpen = true
	default:
		n.Stdin = t.string
	}
}
