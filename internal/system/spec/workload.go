package spec

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/history"

	"go.yaml.in/yaml/v3"
)

// workloadSource is the client that a workload makes, in Python.
//
//go:embed workload.py
var workloadSource string

// workloadText is a client that is ready-made, as written.
type workloadText struct {
	line             int // 0: there is none
	data, speaks     text
	to               []text
	port             int
	operations, keys int
	script, value    text
	requests         map[string]string
	requestsLine     int
}

// speaks are the ways in which a workload reaches servers.
var speaks = []string{"resp", "http", "script"}

var workloadFields = []field[workloadText]{
	{"data", "The data type of the operations. Each client makes random operations.", schema{"enum": history.Names()}, func(r *reader, w *workloadText, v *yaml.Node) { w.data = r.text(v) }},
	{"speaks", "The protocol: resp (Redis), http (requests), or script.", schema{"enum": speaks},
		func(r *reader, w *workloadText, v *yaml.Node) { w.speaks = r.text(v) }},
	textsField("to", "Names of the nodes that the client asks. It asks another one when a node does not answer, or is not the right one.", func(w *workloadText) *[]text { return &w.to }),
	countField("port", "The port to which it connects; default 6379 for resp, 80 for http.", 1, 65535, func(w *workloadText) *int { return &w.port }),
	countField("operations", "Number of operations of each client; default 5.", 1, 10000, func(w *workloadText) *int {
		return &w.operations
	}),
	countField("keys", "Number of keys; default 1.", 1, 1000, func(w *workloadText) *int { return &w.keys }),
	{"script", "With speaks: script: a command that is called with operation, key and value behind its arguments. It prints the result. Its status is 0 if the operation has happened, 1 if it has not, and another one if that is not known.", schema{"type": "string"},
		func(r *reader, w *workloadText, v *yaml.Node) { w.script = r.text(v) }},
	{"requests", "With speaks: http: by operation, METHOD PATH BODY, with {key} and {value}, or {key64} and {value64} for base64.", schema{"type": "object", "additionalProperties": schema{"type": "string"}},
		func(r *reader, w *workloadText, v *yaml.Node) {
			w.requests, w.requestsLine = map[string]string{}, v.Line
			r.each("requests", v, func(name text, v *yaml.Node) { w.requests[name.string] = r.text(v).string })
		}},
	{"value", "With speaks: http: a regular expression (Python's) on the body of the response to a read, whose group value, or value64, is the result.", schema{"type": "string"},
		func(r *reader, w *workloadText, v *yaml.Node) { w.value = r.text(v) }},
}

// asks are the operations of workloads, by data.
var asks = map[string][]string{
	"register": {"read", "write"}, "counter": {"read", "add"}, "set": {"read", "add"}, "list": {"read", "append"},
	"queue": {"enqueue", "dequeue"}, "bank": {"read", "transfer"},
}

// accounts are those of a bank, each with what is on it at first.
var accounts = map[string]int{"a": 10, "b": 10, "c": 10}

const accountsText = "a=10 b=10 c=10"

// workload is the command of a workload.
func (r *reader) workload(w *workloadText, node string, seed uint64) (c Command, links []string) {
	c.Line = w.line
	ops := asks[w.data.string]
	switch {
	case ops == nil:
		r.fail(w.line, "workload: data %q is none of %s", w.data.string, strings.Join(history.Names(), ", "))
	case !slices.Contains(speaks, w.speaks.string):
		r.fail(w.line, "workload: speaks %q is none of %s", w.speaks.string, strings.Join(speaks, ", "))
	case w.speaks.string == "script" && w.script.string == "":
		r.fail(w.line, "workload: script is missing")
	case w.speaks.string != "script" && len(w.to) == 0:
		r.fail(w.line, "workload: to is missing: which nodes does it ask?")
	case w.speaks.string == "http" && slices.ContainsFunc(ops, func(op string) bool { return w.requests[op] == "" }):
		r.fail(w.line, "workload: requests of %s are needed", strings.Join(ops, " and "))
	case w.speaks.string == "http" && !strings.Contains(w.value.string, "?P<value"):
		r.fail(w.line, "workload: value is a regular expression with a group (?P<value>...)")
	}
	var to, command []string
	for _, t := range w.to {
		to = append(to, t.string)
	}
	if w.script.string != "" {
		links, command = r.links([]text{w.script}), r.command(w.script).Args
	}
	config, err := json.Marshal(map[string]any{
		"name": node, "seed": seed, "data": w.data.string, "speaks": w.speaks.string, "to": to, "port": w.port,
		"operations": w.operations, "keys": w.keys,
		"script": command, "requests": w.requests, "value": w.value.string, "accounts": accounts,
	})
	if err != nil {
		panic(err) // it is texts and numbers
	}
	c.Name = "workload " + w.data.string
	c.Args = []string{r.program(text{"python3", w.line}), "-c", workloadSource, string(config)}
	return c, links
}

// workloadHistory is what workloads' lines say of their operations.
var workloadHistory = expose.History{
	Invoke: regexp.MustCompile(`^operation (?P<op>\w+) (?P<key>\w+) ?(?P<value>.*)$`),
	OK:     regexp.MustCompile(`^answer ?(?P<value>.*)$`),
	Fail:   regexp.MustCompile(`^refused$`),
}
