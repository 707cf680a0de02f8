package session_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

// Example: two clients add 1 to a register, each by a read and a write. On time both updates are
// seen; from the same beginning, another order loses one.
func Example() {
	dir, err := os.MkdirTemp("", "session")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "program"), nil, 0o777); err != nil {
		log.Fatal(err)
	}
	// With spec.Read and without Options.System these are the programs of a spec.
	spec := systemtest.SpecIn(dir, 3, 2, 1, 2)
	nodes := systemtest.Freezable{Fakes: &systemtest.Fakes{Programs: worldtest.LostUpdate}}
	s, err := session.Open(context.Background(), spec, session.Options{System: nodes.Options()})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	// Switch all on, and keep where that is.
	for range 3 {
		if _, err := s.Natural(); err != nil {
			log.Fatal(err)
		}
	}
	start := s.Position()

	// What comes first in time, to the end.
	for len(s.Enabled()) > 0 {
		if _, err := s.Natural(); err != nil {
			log.Fatal(err)
		}
	}
	end, v := s.End()
	fmt.Println("on time:", end, v)

	// Back, and another way: what comes last.
	if err := s.Return(start); err != nil {
		log.Fatal(err)
	}
	for choices := s.Enabled(); len(choices) > 0; choices = s.Enabled() {
		if _, err := s.Step(choices[len(choices)-1].Name); err != nil {
			log.Fatal(err)
		}
	}
	end, v = s.End()
	fmt.Printf("otherwise, after %d steps: %s\n", s.Steps(), end)
	if v != nil {
		n, err := s.Node(v.Node)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s\n", n.Name, n.Logs[len(n.Logs)-1].Text)
	}
	// Output:
	// on time: clients done <nil>
	// otherwise, after 12 steps: violation
	// n3: panic: update lost: the register is 1, not 2
}
