package disk

import (
	"slices"
	"strings"
	"testing"
)

func TestEpoch(t *testing.T) {
	for line, good := range map[string]bool{"begin": true, "end": true, "end failed": true, "end well": false,
		"promise x y": true, "crash now": true, "crash": false, "begin 1": false, "promise": false, "promise ": false,
		"promise \x00": false, "": false} {
		if why := CheckMark(line); (why == "") != good {
			t.Errorf("%q: %q", line, why)
		}
	}
	var e Epoch
	at := []Epoch{}
	for _, line := range []string{"begin", "end failed", "begin", "promise a", "promise  b c ", "promise a", "end",
		"crash now"} {
		if why := e.Say(line); why != "" {
			t.Errorf("%q: %s", line, why)
		}
		at = append(at, e)
	}
	if got, want := e.Env(),
		[]string{"ARIADNE_BEGUN=2", "ARIADNE_ENDED=2", "ARIADNE_FAILED=1",
			"ARIADNE_PROMISES=a\nb c"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for n, owes := range []bool{false, false, false, true, true, true, true, true} {
		if at[n].Owes() != owes {
			t.Errorf("after line %d: %+v", n+1, at[n])
		}
	}
	if len(at[3].Promises) != 1 || at[3].Ended != 1 { // an epoch does not change with later ones
		t.Errorf("%+v", at[1])
	}
	if e.Say("end") == "" || e.Say("promise "+strings.Repeat("x", maxPromises)) == "" {
		t.Error("more is ended than was begun, or promised than there is room for")
	}
	var again Epoch
	for _, op := range []Op{{Kind: Mark, Target: "begin"}, create(3, "a"), {Kind: Mark, Target: "promise a"}} {
		again.Add(&op)
	}
	if again.Begun != 1 || !slices.Equal(again.Promises, []string{"a"}) {
		t.Errorf("%+v", again)
	}
	// Nothing of a mark can be lost.
	if l := logOf(Op{Kind: Mark, Target: "begin"}); !l.Durable() || len(Any.Images(l, Choice{Limit: 9}).Lost) != 1 {
		t.Error("a mark leaves images")
	}
}
