package explain

import (
	"regexp"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// Loss is what a loss of power has taken from one file.
type Loss struct {
	Step       int      `json:"step"`
	Node       string   `json:"node"`
	File       string   `json:"file"`
	Operations []string `json:"operations"`
	// Code is by operation the function and the line that called it, or "".
	Code []string `json:"code,omitempty"`
}

// losses are those of an execution, by file in the order in which they were lost.
func losses(steps []ariadne.Step, names world.Names) (all []Loss) {
	for i := range steps {
		at := map[string]int{}
		for _, op := range steps[i].Output.Lost {
			file := fileOf(op)
			n, ok := at[file]
			if !ok {
				n = len(all)
				at[file] = n
				all = append(all, Loss{Step: steps[i].Index, Node: names.Node(steps[i].Action.Node), File: file})
			}
			all[n].Operations = append(all[n].Operations, op)
		}
	}
	return all
}

// after are the words that follow the name of a file in the text of an operation.
var after = regexp.MustCompile(`(?: \((?:mapping|.* more)\)|, \d+ to \d+ bytes| from \d+ to \d+ bytes| at \d+)+$`)

// fileOf returns the file that the text of an operation names (disk.Op), or "".
func fileOf(op string) string {
	op = after.ReplaceAllString(op, "")
	if _, file, ok := strings.Cut(op, "rename of "); ok {
		_, to, _ := strings.Cut(file, " to ")
		return to
	}
	for _, of := range []string{"write of ", "link to "} {
		if i := strings.Index(op, of); i >= 0 {
			if j := strings.LastIndex(op, " to "); j >= 0 {
				return op[j+len(" to "):]
			}
		}
	}
	if i := strings.LastIndex(op, " of "); i >= 0 {
		return op[i+len(" of "):]
	}
	return ""
}
