// Command suites runs a suite of system-call tests that was built elsewhere: each program of a
// directory natively and as a node of one program, and compares what came of it.
//
//	go run ./tools/suites [flags] DIR
//
// A program has passed when it ends with status 0 and prints no failure; it passes here too when it
// does so with at least as many checks as natively. The markers of LTP and of rr's tests are known.
// Of a program of Google Test each test counts on its own. Natively a program runs in namespaces of
// its own (processes, mounts, network, IPC, names), in an empty directory, and without the
// capabilities that reach the machine itself. At the end the command reports what programs have
// left on the machine all the same, and removes it.
//
// Exit status 0 whatever the rate: it is measured, not judged.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"
)

type options struct {
	ariadne string
	limit   time.Duration
	args    []string // of each program
	env     []string // NAME=VALUE, beside PATH and HOME
	jobs    int
	work    string // where programs have their directories
}

func main() {
	var o options
	flag.StringVar(&o.ariadne, "ariadne", "bin/ariadne", "the binary")
	flag.DurationVar(&o.limit, "limit", time.Minute, "real time that one program may take")
	flag.IntVar(&o.jobs, "jobs", 2, "programs at once")
	match := flag.String("match", "", "only programs whose name matches")
	args := flag.String("args", "", "arguments of each program")
	env := flag.String("env", "", "environment of each program: NAME=VALUE NAME=VALUE")
	flag.Parse()
	o.args, o.env = strings.Fields(*args), strings.Fields(*env)
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "suites: one directory is wanted: make suites DIR=/path/to/programs")
		os.Exit(2)
	}
	if err := suites(o, flag.Arg(0), *match); err != nil {
		fmt.Fprintln(os.Stderr, "suites:", err)
		os.Exit(2)
	}
}

func suites(o options, dir, match string) error {
	only, err := regexp.Compile(match)
	if err != nil {
		return err
	}
	if o.ariadne, err = filepath.Abs(o.ariadne); err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	names, err := programs(dir, only)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("%s has no programs", dir)
	}
	// What the user says comes last, and counts.
	o.env = append([]string{"PATH=" + dir + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8"}, o.env...)
	if o.work, err = os.MkdirTemp("", "suites"); err != nil {
		return err
	}
	defer os.RemoveAll(o.work)
	before := lookAround(o.work)
	defer func() {
		for _, left := range before.restore(lookAround(o.work)) {
			fmt.Println("left on the machine:", left)
		}
	}()
	var results []result
	slots := make(chan struct{}, max(1, o.jobs))
	done := make(chan []result)
	for _, name := range names {
		go func() {
			slots <- struct{}{}
			r := o.both(filepath.Join(dir, name))
			<-slots
			done <- r
		}()
	}
	for range names {
		some := <-done
		for _, r := range some {
			if r.verdict != passes && r.verdict != failsNatively {
				fmt.Println(r)
			}
		}
		results = append(results, some...)
	}
	fmt.Print(summary(len(names), results))
	return nil
}

// programs lists the executable files of a directory.
func programs(dir string, only *regexp.Regexp) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && only.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	sort.Strings(names)
	return names, nil
}

// summary is the rate, as docs/results/guests.md shows it.
func summary(programs int, results []result) string {
	count := map[verdict]int{}
	for _, r := range results {
		count[r.verdict]++
	}
	native := len(results) - count[failsNatively]
	rate := 0
	if native > 0 {
		rate = 100 * count[passes] / native
	}
	what := fmt.Sprintf("%d programs", programs)
	if len(results) > programs {
		what = fmt.Sprintf("%d tests of %s", len(results), what)
	}
	return fmt.Sprintf("%s; %d pass natively; %d of these pass here too (%d %%), %d are refused loudly, %d differ, %d do not end\n",
		what, native, count[passes], rate, count[refused], count[differs], count[endless])
}
