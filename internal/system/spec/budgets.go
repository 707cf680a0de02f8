package spec

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// Budgets are budgets of faults that somebody gives besides the spec, as in crash:2,cut or
// none,crash. The zero value changes nothing.
type Budgets struct {
	lifted bool // none: of the spec's own, nothing is left
	given  map[ariadne.ActionKind]uint8
}

// NoFaults, as the first of some budgets, lifts those of the spec.
const NoFaults = "none"

// Set adds what a text says. A kind without a number is one fault of it.
func (b *Budgets) Set(s string) error {
	for i, one := range strings.Split(s, ",") {
		name, number, counted := strings.Cut(one, ":")
		if name == NoFaults && !counted && i == 0 && len(b.given) == 0 {
			b.lifted = true
			continue
		}
		k, ok := world.KindNamed(name)
		if !ok || world.KindOf(k).Fault == "" {
			if name == NoFaults {
				return fmt.Errorf("%s must come first, and has no number", NoFaults)
			}
			return fmt.Errorf("unknown kind of fault %q: %s", name, strings.Join(FaultNames(), ", "))
		}
		if _, twice := b.given[k]; twice {
			return fmt.Errorf("%s is there twice", name)
		}
		n := 1
		if counted {
			var err error
			if n, err = strconv.Atoi(number); err != nil || n < 0 || n > world.MaxFaults {
				return fmt.Errorf("bad number %q of %s: a whole number from 0 to %d is needed", number, name,
					world.MaxFaults)
			}
		}
		if b.given == nil {
			b.given = map[ariadne.ActionKind]uint8{}
		}
		b.given[k] = uint8(n)
	}
	return nil
}

// String is what Set reads.
func (b *Budgets) String() string {
	var all []string
	if b.lifted {
		all = append(all, NoFaults)
	}
	for _, k := range world.Kinds() {
		if n, ok := b.given[k]; ok {
			all = append(all, fmt.Sprintf("%s:%d", world.KindOf(k).Name, n))
		}
	}
	return strings.Join(all, ",")
}

// Type is what the value is called in usage messages.
func (*Budgets) Type() string { return "budgets" }

// Apply puts them in the place of the spec's. How faults of a kind happen stays as the spec has it,
// or as it is by default.
func (b *Budgets) Apply(s *Spec) error {
	if b.lifted {
		s.Faults = world.Faults{}
	}
	for k, n := range b.given {
		s.Faults[k] = n
	}
	var vain []ariadne.ActionKind
	others := false
	for _, k := range world.Kinds() {
		if b.given[k] == 0 {
			continue
		}
		what := s.impossible(k)
		if what == "" {
			what = s.strikesNobody(k)
			if what == "" {
				others = true
				continue
			}
			vain = append(vain, k)
			s.Notes = append(s.Notes, what)
			continue
		}
		return fmt.Errorf("%s: %s", s.Path, what)
	}
	if len(vain) > 0 && !others {
		return fmt.Errorf("%s: %s", s.Path, s.Notes[0])
	}
	for _, k := range vain { // the others can happen: one list of kinds serves many specs
		s.Faults[k] = 0
	}
	return nil
}

// Budgets names the spec's budgets of faults, as in crash:1,cut:1 or none.
func (s *Spec) Budgets() string {
	b := Budgets{given: map[ariadne.ActionKind]uint8{}}
	for k, n := range s.Faults {
		if n > 0 {
			b.given[ariadne.ActionKind(k)] = n
		}
	}
	if len(b.given) == 0 {
		return NoFaults
	}
	return b.String()
}

// FaultNames are the names of all kinds of faults.
func FaultNames() (all []string) {
	for _, k := range world.Kinds() {
		if kind := world.KindOf(k); kind.Fault != "" {
			all = append(all, kind.Name)
		}
	}
	return all
}
