package ariadne

import "testing"

// FuzzParseExposure: an exposure that is read is printed so that it is read as the same.
func FuzzParseExposure(f *testing.F) {
	for _, line := range []string{"expose leader n1 3", "expose log[4] x", `expose a "two words"`, "expose", "expose [",
		"exposed x", `expose a "`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		e, ok := ParseExposure(line)
		if !ok {
			return
		}
		again, ok := ParseExposure(e.String())
		if !ok || again.String() != e.String() {
			t.Errorf("%q is printed as %q, which is read as %q, %v", line, e, again, ok)
		}
	})
}

// FuzzParseAssertion: a line that is read is of a known kind, and is broken only where the program
// has come to it.
func FuzzParseAssertion(f *testing.F) {
	for _, line := range []string{"assert always true x", "assert sometimes false x", "assert reachable x",
		"assert unreachable x", "assert always",
		`{"antithesis_assert":{"hit":true,"must_hit":true,"assert_type":"always","condition":false,"message":"m"}}`, "{"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if a, ok := ParseAssertion(line); ok {
			switch a.Kind {
			case AssertAlways, AssertSometimes, AssertReachable, AssertUnreachable:
			default:
				t.Errorf("%q: kind %q", line, a.Kind)
			}
			if a.Broken() && !a.Hit {
				t.Errorf("%q: broken and not hit", line)
			}
		}
	})
}
