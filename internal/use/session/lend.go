package session

import (
	"errors"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
)

// Ahead is a step of the line that a node does later.
type Ahead struct {
	Step   int // its number
	Input  ariadne.Input
	Digest ariadne.Digest // of what it does
}

// Lend lends f a checkpoint of a node where the session stands, and the steps of the line that the
// node does from there on. To see inside a step, f thaws copies of the checkpoint, and gives them
// these inputs. f is not called when the node has not been switched on, or is of a kind that cannot
// be stopped within a step.
func (s *Session) Lend(id ariadne.NodeID, f func(at memo.Frozen, ahead []Ahead) error) error {
	return s.look(id, func() (err error) {
		stands := s.path.Steps()
		local := s.path.Last().State.Locals[id]
		if !s.path.Last().State.Nodes[id].Started {
			return nil
		}
		var ahead []Ahead
		if err := s.follow(len(s.line)); err != nil {
			return err
		}
		for i := stands + 1; i <= s.path.Steps(); i++ {
			if t := s.path.Transition(i); t.From.Node == id {
				step := s.path.Step(i)
				ahead = append(ahead, Ahead{i, t.Input.Input(), step.Output.Digest})
			}
		}
		if err := s.follow(stands); err != nil {
			return err
		}
		var at memo.Frozen
		err = s.executor.Visit(local, func(m memo.Instance) (err error) {
			if _, ok := m.(inspect.Steppable); !ok {
				return nil
			}
			at, err = m.(memo.Freezable).Freeze()
			return err
		})
		if at == nil || err != nil {
			return err
		}
		return errors.Join(f(at, ahead), at.Drop())
	})
}
