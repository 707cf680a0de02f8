//go:build linux

package crash

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// Recoveries are executions of a command that recovers files, during which there is another loss.
type Recoveries struct {
	Most int // up to so many, of each kind of loss
	// Run executes the command on the files in a directory, and returns what it does to them.
	// first, unless it is empty, is a shell script that is executed before. changed are files
	// beside the spec of which the directory has what the program has left, if anything. why says
	// why nothing can be concluded, or is "".
	Run func(ctx context.Context, dir, first string, changed []string) (log []*disk.Op, why string, err error)
}

// mostArgument is how many bytes an argument of a program may have.
const mostArgument = 1<<17 - 1

// RecoveriesOf are those by a command line, which the one node of a spec runs.
func RecoveriesOf(s *spec.Spec, o system.Options, line string, most int) (*Recoveries, error) {
	own, err := recovering(s, line)
	if err != nil {
		return nil, err
	}
	command, links := own.Nodes[0].Commands[0], own.Nodes[0].Links
	var log *disk.Log
	o.Nodes = system.Processes{Files: func(_ ariadne.NodeID, l *disk.Log) { log = l }}
	return &Recoveries{Most: most,
		Run: func(ctx context.Context, dir, first string, changed []string) (ops []*disk.Op, why string, err error) {
			c := spec.Command{Args: command.Args, Name: line}
			if first != "" {
				c.Args = []string{"/bin/sh", "-c", fmt.Sprintf("%s\necho %s >/dev/ariadne\nexec %s", first, crashNow,
					quoted(command.Args))}
			}
			if len(c.Args[len(c.Args)-1]) > mostArgument {
				return nil, "the times of its files are longer than the argument of a program can be", nil
			}
			own.Nodes[0].Dir, own.Nodes[0].Commands = dir, []spec.Command{c}
			own.Nodes[0].Links = slices.DeleteFunc(slices.Clone(links),
				func(name string) bool { return slices.Contains(changed, name) })
			err = run.Vary(ctx, own, o, slices.Values([]run.Case{nil}), func(_ run.Case, v *run.Varied) error {
				switch {
				case len(v.Doubts) > 0:
					why = v.Doubts[0]
				case v.Violation != nil:
					why = v.Violation.Message
				case v.End == search.EndTime:
					why = "it does not end"
				default:
					ops = log.Ops()
					if first != "" {
						ops = ops[slices.IndexFunc(ops, isCrashNow)+1:]
					}
				}
				return nil
			})
			var start *system.NotStarted
			if errors.As(err, &start) {
				return nil, start.How, nil
			}
			return ops, why, err
		}}, nil
}

// Recovering is the command line of a checker that runs another command first, which recovers the
// files, and rejects them if that fails.
func Recovering(recover, check []string) []string {
	return []string{"/bin/sh", "-c", quoted(recover) + ` || { s=$?; echo "the recovery fails with status $s"; exit $s; }
exec ` + quoted(check)}
}

// quoted are words as a shell reads them.
func quoted(words []string) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(all, " ")
}

// commandOf is a command line as a node of a spec runs it, and the files beside the spec that it
// names, unless the node has a copy of them all.
func commandOf(s *spec.Spec, line string) (spec.Command, []string, error) {
	text := fmt.Sprintf("nodes: [{name: node, client: true, command: %s}]\n", strconv.Quote(line))
	own, err := spec.Parse(filepath.Join(s.Dir, "command.yaml"), []byte(text))
	var bad spec.Errors
	if errors.As(err, &bad) { // nobody has written that spec
		texts := make([]string, len(bad))
		for i, e := range bad {
			texts[i] = e.Text
		}
		err = errors.New(strings.Join(texts, "; "))
	}
	if err != nil {
		return spec.Command{}, nil, err
	}
	if s.Nodes[0].Dir == s.Dir {
		return own.Nodes[0].Commands[0], nil, nil
	}
	return own.Nodes[0].Commands[0], own.Nodes[0].Links, nil
}

// Finish has the one node of a spec run another command when its own has ended well.
func Finish(s *spec.Spec, line string) error {
	n := &s.Nodes[0]
	if len(n.Commands) != 1 {
		return fmt.Errorf("the node has %s, and it follows one", some(len(n.Commands), "command"))
	}
	c, links, err := commandOf(s, line)
	if err != nil {
		return err
	}
	n.Commands[0].Args = []string{"/bin/sh", "-c", quoted(n.Commands[0].Args) + " && exec " + quoted(c.Args)}
	n.Links = slices.Compact(slices.Sorted(slices.Values(slices.Concat(n.Links, links))))
	return nil
}

// recovering is a spec whose node runs another command, with the first answers and without faults.
// The properties of the spec do not concern this command.
func recovering(s *spec.Spec, line string) (*spec.Spec, error) {
	command, links, err := commandOf(s, line)
	if err != nil {
		return nil, err
	}
	own := *s
	own.Faults, own.EndsByTime = [len(s.Faults)]uint8{}, false
	own.Properties, own.Probes, own.Looks, own.Growth = spec.Properties{}, nil, nil, nil
	n := s.Nodes[0]
	n.Commands, n.Links, n.Restart, n.AfterCrash = []spec.Command{command}, links, nil, nil
	n.Client, n.MayFail = true, false
	own.Nodes = []spec.Node{n}
	return &own, nil
}
