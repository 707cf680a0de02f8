package strategy

import "ariadne/internal/space"

// Turns makes the first paths of an exhaustive explorer, and then takes turns: a round
// of DPOR, as many paths of the explorer as the round had, and so on. It is at its end
// when the explorer is.
//
// The explorer relies on having been in each known state, and must not take for known
// what a round came by: those paths are made Aside.
type Turns struct {
	Explorer Exhaustive // its paths need not begin like the one before
	First    int        // its paths before the first round; at least 1
	Rounds   *Rounds

	made  int  // paths of the explorer, and
	rival int  // of rounds
	round bool // one is under way
}

// Begin implements Explorer.
func (t *Turns) Begin(p *space.Path) (keep int, ok bool) {
	back := false
	if t.round {
		if keep, ok = t.Rounds.goOn(p); ok {
			t.rival++
			return keep, true
		}
		t.round, back = false, true
	}
	if t.made < t.First+t.rival {
		t.made++
		if keep, ok = t.Explorer.Begin(p); back {
			keep = 0 // that was not a path of its own, whatever is alike
		}
		return keep, ok
	}
	t.round = true
	t.rival++
	return t.Rounds.Begin(p)
}

// Next implements Explorer.
func (t *Turns) Next(p *space.Path) (event int, ok bool) { return t.now().Next(p) }

// End implements Explorer.
func (t *Turns) End(p *space.Path, e End) error { return t.now().End(p, e) }

func (t *Turns) now() Explorer {
	if t.round {
		return t.Rounds
	}
	return t.Explorer
}

// Aside implements Sider.
func (t *Turns) Aside() bool { return t.round }

// Leave implements Leaver.
func (t *Turns) Leave() { Leave(t.Explorer) }

// Missed implements Exhaustive.
func (t *Turns) Missed() string { return t.Explorer.Missed() }
