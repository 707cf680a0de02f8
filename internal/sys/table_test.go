package sys

import "testing"

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
		case (r.Level == Refused || r.Level == Passed) && r.Handler != nil:
			t.Errorf("%s: level and handler do not fit", r.Name)
		}
	}
}
