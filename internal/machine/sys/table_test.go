package sys

import (
	_ "embed"
	"regexp"
	"testing"
)

//go:embed calls.go
var calls string

// lastCall is the highest number that Linux has given to a call on x86-64.
const lastCall = 471

// TestEveryCallIsClassified fails when a number of Linux has no row: nothing may
// pass unseen. The numbers from 337 to 423 were left free.
func TestEveryCallIsClassified(t *testing.T) {
	for nr := range Table {
		r := Table[nr]
		free := nr > 336 && nr < 424 || nr > lastCall
		switch {
		case free && r.Name != "":
			t.Errorf("%s: %d is no call of Linux", r.Name, nr)
		case free:
		case r.Name == "":
			t.Errorf("call %d has no row", nr)
		case r.NR != nr:
			t.Errorf("%s: row %d has number %d", r.Name, nr, r.NR)
		case r.Level == Refused && r.Note == "", r.Level == Partial && r.Note == "":
			t.Errorf("%s: no note says why or what is missing", r.Name)
		case (r.Level == Passed) != (r.Runs == Always):
			t.Errorf("%s: level and filter do not fit", r.Name)
		case (r.Level == Refused || r.Level == Passed) && r.Handler != nil:
			t.Errorf("%s: level and handler do not fit", r.Name)
		}
	}
}

// TestTableIsInOrder: the table is read in one place, from the first call to the last.
func TestTableIsInOrder(t *testing.T) {
	numbers := map[string]int{}
	for nr, r := range Table {
		numbers[r.Name] = nr
	}
	rows := regexp.MustCompile(`(?m)^\t\tunix\.SYS_\w+: +\w+\("(\w+)"`).FindAllStringSubmatch(calls, -1)
	last := -1
	for _, row := range rows {
		nr, ok := numbers[row[1]]
		if !ok || nr <= last {
			t.Errorf("%s, %d, stands behind %d", row[1], nr, last)
		}
		last = nr
	}
	if len(rows) != len(numbers)-1 { // less the empty name
		t.Errorf("%d rows stand on lines of their own, of %d", len(rows), len(numbers)-1)
	}
}
