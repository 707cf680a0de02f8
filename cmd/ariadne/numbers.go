package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Flags with numbers. What they take is what makes sense, so that no number means
// something else than it says: a bound of 0 allows nothing, and no bound is none, or
// the flag's absence.

// none is the value of a flag that lifts a bound.
const none = "none"

// bound is a flag with an upper bound; without the flag there is none.
type bound space.Bound

func (b *bound) String() string {
	switch {
	case *b == 0:
		return ""
	case *b < 0:
		return none
	}
	return strconv.Itoa(int(*b) - 1)
}

func (b *bound) Set(s string) error {
	if s == none {
		*b = bound(space.Unbounded)
		return nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > spec.MaxInt {
		return fmt.Errorf("neither a whole number from 0 to %d nor none", spec.MaxInt)
	}
	*b = bound(space.AtMost(n))
	return nil
}

func (*bound) Type() string { return "n" }

// count is a flag with a whole number.
type count struct {
	to        *int
	low, high int
	lifts     *bool // none is a value, which sets this; nil: it is not
}

func (c count) String() string {
	if c.to == nil || *c.to == 0 {
		return ""
	}
	return strconv.Itoa(*c.to)
}

func (c count) Set(s string) error {
	if c.lifts != nil {
		if *c.lifts = s == none; *c.lifts {
			*c.to = 0
			return nil
		}
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < c.low || n > c.high {
		if c.lifts != nil {
			return fmt.Errorf("neither a whole number from %d to %d nor none", c.low, c.high)
		}
		return fmt.Errorf("not a whole number from %d to %d", c.low, c.high)
	}
	*c.to = n
	return nil
}

func (count) Type() string { return "n" }

// span is a flag with a duration, or none.
type span struct {
	to    *time.Duration
	lifts *bool
}

func (d span) String() string {
	if d.to == nil || *d.to == 0 {
		return ""
	}
	return d.to.String()
}

// maxSpan is more than anybody waits, and can be added to any time.
const maxSpan = 100 * 365 * 24 * time.Hour

func (d span) Set(s string) error {
	if *d.lifts = s == none; *d.lifts {
		*d.to = 0
		return nil
	}
	t, err := time.ParseDuration(s)
	if err != nil || t <= 0 || t > maxSpan {
		return errors.New("neither a duration above 0, as in 90s or 10m, nor none")
	}
	*d.to = t
	return nil
}

func (span) Type() string { return "duration" }

// share is a flag with a number from 0 to 1.
type share float64

func (s *share) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*s), 'g', -1, 64)
}

func (s *share) Set(text string) error {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 1 {
		return errors.New("not a number from 0 to 1")
	}
	*s = share(f)
	return nil
}

func (*share) Type() string { return "share" }

// size is a flag with a number of bytes.
type size int64

func (s *size) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*s), 10)
}

func (s *size) Set(text string) error {
	number, unit := text, int64(1)
	for i, suffix := range []string{"K", "M", "G"} {
		if n, ok := strings.CutSuffix(text, suffix); ok {
			number, unit = n, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/unit {
		return errors.New("not a size as in 500M or 4G")
	}
	*s = size(n * unit)
	return nil
}

// memory is the size with which Ariadne is to do.
type memory int64

// leastMemory is about what Ariadne takes before it has executed anything, and something
// to work with.
const leastMemory = 64 << 20

func (m *memory) String() string { return (*size)(m).String() }

func (m *memory) Set(text string) error {
	var s size
	if err := s.Set(text); err != nil {
		return err
	}
	if s < leastMemory {
		return errors.New("too small: at least 64M is needed")
	}
	*m = memory(s)
	return nil
}

func (*memory) Type() string { return "size" }
