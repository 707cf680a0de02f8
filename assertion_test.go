package ariadne

import "testing"

func TestParseAssertion(t *testing.T) {
	for line, want := range map[string]Assertion{
		"assert always true x is y":        {AssertAlways, "x is y", true, true, true},
		" assert  always  false  x is y ":  {AssertAlways, "x is y", true, false, true},
		"assert sometimes false a leader":  {AssertSometimes, "a leader", true, false, true},
		"assert reachable recovery is run": {AssertReachable, "recovery is run", true, true, true},
		"assert unreachable both lead":     {AssertUnreachable, "both lead", true, true, false},
		`{"antithesis_assert":{"hit":true,"must_hit":true,"assert_type":"always","display_type":"Always","message":"m","condition":false,"id":"m","location":{"class":"main"},"details":null}}`: {AssertAlways, "m", true, false, true},
		`{"antithesis_assert":{"hit":false,"must_hit":true,"assert_type":"sometimes","message":"m","condition":false}}`:                                                                         {AssertSometimes, "m", false, false, true},
		`{"antithesis_assert":{"hit":true,"must_hit":false,"assert_type":"reachability","message":"m","condition":false}}`:                                                                      {AssertUnreachable, "m", true, false, false},
		`{"antithesis_assert":{"hit":true,"must_hit":true,"assert_type":"reachability","message":"m","condition":true}}`:                                                                        {AssertReachable, "m", true, true, true},
		`{"antithesis_setup":{"status":"complete","details":null}}`:                                                                                                                             {},
	} {
		if got, ok := ParseAssertion(line); got != want || !ok {
			t.Errorf("%s: %+v, %v, want %+v", line, got, ok, want)
		}
	}
	for _, line := range []string{"", "assert", "assert always", "assert always maybe x", "assert always true",
		"assert never true x", "assertion always true x", "assert reachable",
		"{", "{}", `{"a":1}`, `{"antithesis_assert":3}`, `{"antithesis_assert":{"hit":true,"assert_type":"guess","message":"m"}}`, `{"antithesis_assert":{"assert_type":"always"}}`} {
		if got, ok := ParseAssertion(line); ok {
			t.Errorf("%q: %+v", line, got)
		}
	}
	broken, satisfied := 0, 0
	for _, kind := range []AssertionKind{AssertAlways, AssertSometimes, AssertReachable, AssertUnreachable} {
		for i := range 4 {
			a := Assertion{Kind: kind, Hit: i&1 != 0, Holds: i&2 != 0, Must: kind != AssertUnreachable}
			if a.Broken() {
				broken++
			}
			if a.Satisfied() {
				satisfied++
			}
		}
	}
	if broken != 3 || satisfied != 2+1+2+4 {
		t.Error(broken, satisfied)
	}
}
