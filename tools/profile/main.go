// Command profile renews cmd/ariadne/default.pgo, by which the Go compiler decides what it inlines
// and how it lays out the code of Ariadne.
//
//	go run ./tools/profile [flags] [spec...]
//
// It profiles what searches do most: random executions, the default search, and walks among
// transitions that are remembered, of each system (a path below examples/). Then it merges the
// profiles. The behaviour of Ariadne does not depend on default.pgo.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/ariadne-mc/ariadne/tools/child"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// profileVar names the directory that Ariadne writes its profiles to.
const profileVar = "ARIADNE_CPU_PROFILE"

var defaultSpecs = []string{"raftkv/raftkv.yaml", "memcached/memcached.yaml", "redis/replication.yaml"}

type options struct {
	ariadne        harness.Ariadne
	examples, to   string
	work, profiles string
	time           time.Duration // of one check
}

func main() {
	var o options
	flag.StringVar(&o.ariadne.Binary, "ariadne", "bin/ariadne", "the binary to profile")
	flag.StringVar(&o.examples, "examples", "examples", "directory of the specs")
	flag.StringVar(&o.to, "o", "cmd/ariadne/default.pgo", "the profile to write")
	flag.DurationVar(&o.time, "time", 20*time.Second, "real time of each check")
	flag.Parse()
	specs := flag.Args()
	if len(specs) == 0 {
		specs = defaultSpecs
	}
	ctx, stop := child.UntilAsked()
	defer stop()
	harness.End("profile", true, o.profile(ctx, specs))
}

func (o *options) profile(ctx context.Context, specs []string) (err error) {
	if o.work, err = os.MkdirTemp("", "profile"); err != nil {
		return err
	}
	defer os.RemoveAll(o.work)
	o.profiles = filepath.Join(o.work, "profiles")
	if err := os.Mkdir(o.profiles, 0o755); err != nil {
		return err
	}
	if err := os.Setenv(profileVar, o.profiles); err != nil {
		return err
	}
	for _, spec := range specs {
		path := filepath.Join(o.examples, spec)
		if err := harness.Fetch(ctx, path); err != nil {
			return err
		}
		if err := o.search(ctx, path); err != nil {
			return fmt.Errorf("%s: %w", spec, err)
		}
	}
	return o.merge(ctx)
}

// search does what a search of a spec does most, each for a time of its own.
func (o *options) search(ctx context.Context, spec string) error {
	dir := filepath.Join(o.work, "run")
	for _, strategy := range []string{"random", "default"} {
		_, err := o.ariadne.Cold(ctx, dir, "check", spec, "--keep-going", "--strategy", strategy, "--time",
			o.time.String())
		if err != nil {
			return err
		}
	}
	known, err := o.ariadne.Know(ctx, dir, spec)
	if err == nil {
		_, err = known.Rate(ctx, o.time)
	}
	return err
}

// merge writes the sum of all profiles.
func (o *options) merge(ctx context.Context) error {
	found, err := filepath.Glob(filepath.Join(o.profiles, "*.pprof"))
	if err != nil || len(found) == 0 {
		return errors.Join(err, fmt.Errorf("%s: no profile was written there", o.profiles))
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"tool", "pprof", "-proto", "-output", o.to}, found...)...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}
