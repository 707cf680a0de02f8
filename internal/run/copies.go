//go:build linux

package run

import (
	"cmp"
	"fmt"
	"time"

	"ariadne/internal/kernel"
	"ariadne/internal/sandbox"
	"ariadne/internal/search/strategy"
	"ariadne/internal/spec"
)

// measureFor is how long it is looked at how much nodes are to be given copies of.
const measureFor = 3 * time.Second

// fits sees that what nodes get copies of fits on their disks and in memory, before
// anything is copied. In memory lie the copies of each worker's nodes, and with
// checkpoints what these bring back.
func (y *system) fits(command string) error {
	until := time.Now().Add(measureFor)
	var total int64
	var largest spec.Error
	var most int64
	for i := range y.spec.Nodes {
		n := &y.spec.Nodes[i]
		size, what, err := y.copied(n, until)
		if err != nil {
			return err
		}
		total += size
		if size > most {
			most, largest = size, spec.Error{Path: y.spec.Path, Line: n.Line, Node: n.Name, Text: what}
		}
	}
	times, why := int64(1), ""
	if command == "check" {
		times = int64(y.opts.Workers)
		why = fmt.Sprintf(" for %d workers (--jobs)", y.opts.Workers)
	}
	row, _ := strategy.Named(y.opts.Strategy)
	remembers := command == "check" && !row.Lives
	if remembers && !y.opts.NoCheckpoints {
		times *= 2
		why += " and their checkpoints"
	}
	if room := share(y.opts.Memory).all; total > room/times {
		largest.Text = fmt.Sprintf("%s, and all nodes' copies%s take %s of memory, more than the %s that there are: name less",
			largest.Text, why, bytesText(total*times), bytesText(room))
		if remembers {
			largest.Text += ", or raise --memory"
		}
		return spec.Errors{largest}
	}
	return nil
}

// copied is how much a node gets copies of, and says what takes most.
func (y *system) copied(n *spec.Node, until time.Time) (total int64, what string, err error) {
	limit := cmp.Or(n.Disk, kernel.DefaultDisk)
	var most int64
	all := true
	for i, dir := range append([]string{n.Dir}, n.Writable...) {
		if dir == "" {
			continue
		}
		field, hidden := "writable", []string(nil)
		if i == 0 {
			field, hidden = "dir", y.spec.Hidden
		}
		size, whole, err := sandbox.Measure(dir, hidden, until)
		if err != nil {
			return 0, "", spec.Errors{{Path: y.spec.Path, Line: n.Line, Node: n.Name, Text: fmt.Sprintf("%s %s: %v", field, dir, err)}}
		}
		total, all = total+size, all && whole
		if size > most || what == "" {
			least := ""
			if !whole {
				least = "at least "
			}
			most, what = size, fmt.Sprintf("%s %s holds %s%s", field, dir, least, bytesText(size))
		}
	}
	switch {
	case total > limit:
		if total > most {
			what += fmt.Sprintf(", all copies %s", bytesText(total))
		}
		what += fmt.Sprintf(", more than disk: %s: raise disk or name less", bytesText(limit))
	case !all:
		what += fmt.Sprintf(", and is too large to be looked through in %v: name less", measureFor)
	default:
		return total, what, nil
	}
	return 0, "", spec.Errors{{Path: y.spec.Path, Line: n.Line, Node: n.Name, Text: what}}
}

// bytesText is a number of bytes as the fields of a spec have it, rounded.
func bytesText(n int64) string {
	for _, u := range []struct {
		size   int64
		suffix string
	}{{1 << 30, "G"}, {1 << 20, "M"}, {1 << 10, "K"}} {
		switch {
		case n >= u.size && n%u.size == 0 || n >= 10*u.size:
			return fmt.Sprintf("%d%s", n/u.size, u.suffix)
		case n >= u.size:
			return fmt.Sprintf("%.1f%s", float64(n)/float64(u.size), u.suffix)
		}
	}
	return fmt.Sprint(n)
}
