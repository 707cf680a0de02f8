package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A program of Google Test has many tests, of which some do not pass natively. Each counts on
// its own: what the rest does is no verdict on it.

// gtest is what is known of the tests of one program, by name.
type gtest struct {
	names    []string // in the order in which they began
	outcomes map[string]outcome
}

// gtestMark is a line about a test. A program may have written the beginning of the line.
var gtestMark = regexp.MustCompile(`(?m)\[( RUN      |       OK |  FAILED  |  SKIPPED )\] (\S+\.[^\s,]+)(?:$|,| \(\d+ ms\))`)

// gtests reads what a program wrote that came to this end. A test that has begun and has no
// result came to that end itself.
func gtests(text string, end outcome) gtest {
	g := gtest{outcomes: map[string]outcome{}}
	for _, m := range gtestMark.FindAllStringSubmatch(text, -1) {
		name := m[2]
		before, known := g.outcomes[name]
		begun := known && before.passed+before.failed+before.skipped == 0
		switch o := (outcome{}); {
		case m[1] == " RUN      " && !known:
			g.names = append(g.names, name)
			g.outcomes[name] = o
		case !begun: // of the list at the end
		case strings.Contains(m[1], "OK"):
			g.outcomes[name] = outcome{passed: 1}
		case strings.Contains(m[1], "FAILED"):
			g.outcomes[name] = outcome{status: 1, failed: 1}
		default:
			g.outcomes[name] = outcome{status: 1, skipped: 1}
		}
	}
	for name, o := range g.outcomes {
		if o.passed+o.failed+o.skipped == 0 {
			o = end
			o.passed, o.failed, o.skipped = 0, 1, 0
			g.outcomes[name] = o
		}
	}
	return g
}

// tests are the results of the tests of a program that it has begun natively. Those that do not
// pass when they run here with the others run alone again, and that counts: a test can bring
// down what comes after it, and which calls were refused is known of a whole run.
func (o options) tests(program, dir string, native gtest) (results []result) {
	var want []string
	for _, name := range native.names {
		if native.outcomes[name].good() {
			want = append(want, name)
		}
	}
	here := map[string]outcome{}
	for left := want; len(left) > 0; {
		part := left[:filterful(left)]
		got := o.emulated(program, dir, filter(part))
		for name, o := range got.tests.outcomes {
			here[name] = o
		}
		rest := slices.DeleteFunc(slices.Clone(left), func(name string) bool { _, done := here[name]; return done })
		if len(rest) == len(left) {
			break // alone, each of them
		}
		left = rest
	}
	for _, name := range native.names {
		r := result{name: filepath.Base(program) + " " + name, native: native.outcomes[name], here: here[name]}
		if r.native.good() && (r.here.passed == 0 || !r.here.good()) {
			all := o.emulated(program, dir, filter([]string{name}))
			alone, began := all.tests.outcomes[name]
			if !began {
				alone = all
			}
			alone.refused = all.refused
			r.here = alone
		}
		r.verdict = judge(r.native, r.here)
		results = append(results, r)
	}
	return results
}

// filter has a program run these tests alone.
func filter(names []string) string { return "GTEST_FILTER=" + strings.Join(names, ":") }

// filterful is how many names there is room for in a variable of the environment.
func filterful(names []string) int {
	const room = 100 << 10 // Linux takes 128 KiB
	size := 0
	for i, name := range names {
		if size += len(name) + 1; size > room {
			return max(i, 1)
		}
	}
	return len(names)
}
