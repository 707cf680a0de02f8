package memo

import (
	"errors"
	"fmt"
)

// Visit lends f an instance that stands in a local state, to look at: f leaves it as it is.
func (x *Executor) Visit(l *Local, f func(Freezable) error) error {
	for {
		_, cut, err := x.reach(l)
		if err == nil && cut != "" {
			return fmt.Errorf("a step on the way to this state was cut off: %s", cut)
		}
		if err == nil {
			err = f(x.live[l.Node].instance)
		}
		if !errors.Is(err, ErrLost) {
			return err
		}
		if err := x.giveUp(l.Node); err != nil {
			return err
		}
	}
}
