//go:build linux

package session_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

const peers = `name: peers
faults: {power: 1}
nodes:
  - {name: server, command: ./peer}
  - {name: client, command: %s, start: 10ms, client: true}
`

// executed opens a spec of this text in a directory, and takes its natural schedule to the end.
func executed(t *testing.T, dir, text string) *session.Session {
	t.Helper()
	file := filepath.Join(dir, "system.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sp, err := spec.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(t.Context(), sp, session.Options{System: system.Options{Version: "test"}})
	s = open(t, s, err)
	for s.Now().End == "" {
		if _, err := s.Natural(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestOrigins: a session finds the function and the line that sent a message, wrote a line, and
// changed a file; also in the first step of a node, and where the function is inlined.
func TestOrigins(t *testing.T) {
	for _, c := range []struct {
		name, client string
		build        []string
		want         []string
	}{
		{"Go", "./peer server", []string{"go", "build", "-o", "OUT", "testdata/origins/peer.go"}, []string{
			"message main.ask (peer.go:46)", "line main.say (peer.go:28)", "message main.answer (peer.go:38)",
			"creation of /node/asked main.keep (peer.go:33)", "write of 4 bytes at 0 to /node/asked main.keep (peer.go:33)"}},
		{"C", "./peer 10.0.0.1", []string{"gcc", "-g", "-O2", "-o", "OUT", "testdata/origins/peer.c"}, []string{
			"message ask (peer.c:33)", "line say (peer.c:13)", "message answer (peer.c:26)",
			"creation of /node/asked keep (peer.c:18)", "write of 4 bytes at 0 to /node/asked keep (peer.c:19)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for i, word := range c.build {
				c.build[i] = strings.ReplaceAll(word, "OUT", filepath.Join(dir, "peer"))
			}
			if out, err := exec.Command(c.build[0], c.build[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			s := executed(t, dir, fmt.Sprintf(peers, c.client))
			end := s.Steps()
			got := map[string]bool{}
			for i := 1; i <= end; i++ {
				o, err := s.Origins(i)
				if err != nil {
					t.Fatal(err)
				}
				if o == nil {
					t.Fatalf("nothing is known of step %d", i)
				}
				for _, code := range o.Messages {
					got["message "+code] = true
				}
				for _, code := range o.Lines {
					got["line "+code] = true
				}
				for _, c := range o.Changes {
					got[c.Operation+" "+c.Code] = true
				}
			}
			if s.Steps() != end {
				t.Errorf("the session stands behind step %d, not %d", s.Steps(), end)
			}
			for _, want := range c.want {
				if !got[want] {
					var all []string
					for g := range got {
						all = append(all, g)
					}
					slices.Sort(all)
					t.Errorf("no %q among\n%s", want, strings.Join(all, "\n"))
				}
			}
		})
	}
}
