package system

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/host"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
)

// Bug is an error that is Ariadne's own fault.
type Bug struct{ Err error }

func (b Bug) Error() string { return b.Err.Error() }
func (b Bug) Unwrap() error { return b.Err }

// AsBug makes err a Bug, unless it is the host's or that of a file.
func AsBug(err error) error {
	var setup *ariadne.SetupError
	var killed *ariadne.KilledError
	if err != nil && !errors.As(err, &killed) {
		err = AsLimit(err)
	}
	var limit *ariadne.LimitError
	var changed *ariadne.ChangedError
	if err == nil || errors.As(err, &limit) || errors.As(err, &changed) || errors.Is(err, ariadne.ErrInterrupted) ||
		errors.As(err, &setup) || errors.As(err, &killed) || errors.Is(err, trace.ErrDamagedCalls) {
		return err
	}
	return Bug{err}
}

// AsLimit makes err a LimitError when it comes from a limit of the host's.
func AsLimit(err error) error {
	var limit *ariadne.LimitError
	if err == nil || errors.As(err, &limit) {
		return err
	}
	if why := host.Limited(err); why != "" {
		what, _, _ := strings.Cut(err.Error(), "\n") // one is enough when there are several
		return &ariadne.LimitError{Err: fmt.Errorf("%s: %s", what, why)}
	}
	return err
}
