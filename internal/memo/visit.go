package memo

import (
	"errors"
	"fmt"
)

// Visit lends f a machine that stands in a local state, to look at: f leaves it as it is.
func (x *Executor) Visit(l *Local, f func(Machine) error) error {
	for {
		_, cut, err := x.reach(l)
		if err == nil && cut != "" {
			return fmt.Errorf("a step on the way to this state was cut off: %s", cut)
		}
		if err == nil {
			err = f(x.live[l.Node].machine)
		}
		if !errors.Is(err, ErrLost) {
			return err
		}
		if err := x.giveUp(l.Node); err != nil {
			return err
		}
	}
}
