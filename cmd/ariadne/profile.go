package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
)

// profileVar names a directory that profiles are written to, of whoever looks for where time goes.
const profileVar = "ARIADNE_CPU_PROFILE"

// startProfile profiles the processor time of this process until stop is called. The profile is
// PID.pprof in the directory that profileVar names. Without it, nothing is profiled.
//
// The compiler reads such profiles too: `make profile` merges some of them to default.pgo.
func startProfile() (stop func() error, err error) {
	dir := os.Getenv(profileVar)
	if dir == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(filepath.Join(dir, fmt.Sprint(os.Getpid(), ".pprof")))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", profileVar, err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
