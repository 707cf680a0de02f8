package ipc

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
)

func TestIPCIDsAreNotReused(t *testing.T) {
	n := kernel.NewNode(0, "n0", 1)
	_, th := n.NewProcess(nil)
	th.Proc.SetUser(0, 0)
	seen := map[int]bool{}
	var live []*SemSet
	for range 200 {
		if len(live) > 0 && n.Rand.Uint64()%2 == 0 {
			i := int(n.Rand.Uint64() % uint64(len(live)))
			SemsOf(n).Remove(live[i])
			live = append(live[:i], live[i+1:]...)
			continue
		}
		s, e := SemsOf(n).Open(th, 0, 1, 0)
		if e != 0 || seen[s.ID] {
			t.Fatalf("id %d, %v", s.ID, e)
		}
		seen[s.ID] = true
		live = append(live, s)
		if SemsOf(n).Get(s.ID) != s {
			t.Fatalf("id %d leads elsewhere", s.ID)
		}
	}
}
