package spec

import "testing"

// TestBudgets: what is written comes out again, and takes the place of the spec's.
func TestBudgets(t *testing.T) {
	for _, test := range []struct {
		set  []string
		want string // of a spec with a budget of duplicates and of cuts
	}{
		{nil, "duplicate:3,cut:1"},
		{[]string{"crash"}, "duplicate:3,crash:1,cut:1"},
		{[]string{"crash:2,cut:0"}, "duplicate:3,crash:2"},
		{[]string{"none"}, "none"},
		{[]string{"none,cut:2", "crash"}, "crash:1,cut:2"},
		{[]string{"duplicate:0,cut:0"}, "none"},
	} {
		s, err := Parse("s.yaml", []byte("nodes: [{command: 'true', count: 2}]\nfaults: {duplicate: 3, cut: 1}\n"))
		if err != nil {
			t.Fatal(err)
		}
		var b, again Budgets
		for _, one := range test.set {
			if err := b.Set(one); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Apply(s); err != nil {
			t.Fatal(err)
		}
		if got := s.Budgets(); got != test.want {
			t.Errorf("%q: %s, want %s", test.set, got, test.want)
		}
		if len(test.set) == 0 {
			continue
		}
		if err := again.Set(b.String()); err != nil || again.String() != b.String() {
			t.Errorf("%q: %s comes back as %s (%v)", test.set, &b, &again, err)
		}
	}
}
