//go:build linux

package check_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// numberC prints a random number of the processor's. It may ask first whether there is
// one, and not listen. With DOUBT, what is before the instruction may be data.
const numberC = `#include <stdio.h>
#include <unistd.h>
#ifdef ASKS
#include <cpuid.h>
#endif

__attribute__((noinline)) static unsigned long long number(void)
{
	unsigned long long n;
#ifdef DOUBT
	__asm__ volatile("jmp 1f\n\tinb %%dx, %%al\n1:\trdrand %0" : "=r"(n));
#else
	__asm__ volatile("rdrand %0" : "=r"(n));
#endif
	return n;
}

int main(void)
{
#ifdef ASKS
	unsigned a, b, c, d;
	__cpuid(1, a, b, c, d);
#endif
	sleep(1);
	printf("%llx\n", number());
	return FAILS;
}
`

// widthsC fails unless each instruction writes its register as the processor does.
const widthsC = `#include <stdio.h>
#include <unistd.h>

#define TAKE(instruction, type, clobbered, out, ok) \
	__asm__ volatile("mov $-1, %%" clobbered "\n\tor %%eax, %%eax\n\t" instruction "\n\tsetc %1\n\tmov %%" clobbered ", %0" \
		: "=r"(out), "=r"(ok) : : clobbered, "cc")

int main(void)
{
	unsigned long long v;
	unsigned char ok;
	sleep(1);
	TAKE("rdrand %%r12w", short, "r12", v, ok);
	if (!ok || v >> 16 != 0xffffffffffff)
		return 1;
	TAKE("rdseed %%ebx", int, "rbx", v, ok);
	if (!ok || v >> 32 != 0)
		return 2;
	TAKE("rdseed %%r9", long, "r9", v, ok);
	if (!ok || v >> 32 == 0xffffffff || v >> 32 == 0)
		return 3;
	TAKE("rdpid %%rdx", long, "rdx", v, ok);
	return v == 0 ? 0 : 4;
}
`

const deviceC = `#include <cstdio>
#include <random>
#include <unistd.h>

int main()
{
	sleep(1);
	std::random_device d("rdrand");
	std::printf("%x\n", d());
}
`

// built is a spec of one node that runs a program of this source.
func built(t *testing.T, compiler, source string, flags ...string) *spec.Spec {
	t.Helper()
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skip(err)
	}
	if info, err := os.ReadFile("/proc/cpuinfo"); err != nil || !strings.Contains(string(info), " rdrand ") {
		t.Skip("this processor has no rdrand")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	name := map[string]string{"gcc": "p.c", "g++": "p.cc"}[compiler]
	systemtest.Write(t, name, source)
	if out, err := exec.Command(compiler, append(flags, "-O1", "-o", "p", name)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	systemtest.Write(t, "s.yaml", "nodes:\n  - name: a\n    client: true\n    command: ./p\n")
	s, err := spec.Read(filepath.Join(dir, "s.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must(t *testing.T, r *record.Report, err error) *record.Report {
	t.Helper()
	var setup *ariadne.SetupError
	if errors.As(err, &setup) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// blames reports whether the only doubts are those that name the instruction.
func blames(r *record.Report, where string) error {
	if r.Outcome != record.Inconclusive || len(r.Bugs) > 0 || len(r.Doubts) == 0 {
		return fmt.Errorf("%v, bugs %q, doubts %q", r.Outcome, r.Bugs, r.Doubts)
	}
	for _, d := range r.Doubts {
		if !regexp.MustCompile(`(?m)^  ` + where + `$`).MatchString(d) {
			return fmt.Errorf("doubt %q does not name %s", d, where)
		}
	}
	return nil
}

const inNumber = `/spec/p: rdrand at number\+0x3`

// TestRandomNumbers: Ariadne executes what is code beyond doubt.
func TestRandomNumbers(t *testing.T) {
	s := built(t, "gcc", numberC, "-DFAILS=0")
	r, err := check.Check(t.Context(), s, audited())
	if must(t, r, err).Outcome != record.Nothing {
		t.Errorf("%v, bugs %q, doubts %q", r.Outcome, r.Bugs, r.Doubts)
	}
	s = built(t, "gcc", numberC, "-DFAILS=1")
	r, err = run.Run(t.Context(), s, run.Options{Out: "run"})
	if must(t, r, err).Outcome != record.Violated {
		t.Errorf("run: %v, bugs %q, doubts %q", r.Outcome, r.Bugs, r.Doubts)
	}
	r, err = run.Replay(t.Context(), s, "run/trace.txt", run.Options{Out: "replay"})
	if must(t, r, err).Outcome != record.Violated {
		t.Errorf("replay: %v, bugs %q, doubts %q", r.Outcome, r.Bugs, r.Doubts)
	}
	s = built(t, "gcc", widthsC)
	r, err = check.Check(t.Context(), s, audited())
	if must(t, r, err).Outcome != record.Nothing {
		t.Errorf("widths: %v, %v, bugs %q, doubts %q", r.Outcome, r.Violations, r.Bugs, r.Doubts)
	}
}

func TestAuditNamesRandomNumbers(t *testing.T) {
	s := built(t, "gcc", numberC, "-DFAILS=0", "-DDOUBT")
	for _, which := range []string{"first", "second"} { // which remembers nothing of the first
		r, err := check.Check(t.Context(), s, audited())
		if err := blames(must(t, r, err), inNumber); err != nil {
			t.Errorf("%s check: %v", which, err)
		}
	}
}

func TestReplaysNameRandomNumbers(t *testing.T) {
	s := built(t, "gcc", numberC, "-DFAILS=1", "-DDOUBT")
	r, err := run.Run(t.Context(), s, run.Options{Out: "run"})
	if err := blames(must(t, r, err), inNumber); err != nil {
		t.Errorf("run: %v", err)
	}
	r, err = run.Replay(t.Context(), s, "run/trace.txt", run.Options{Out: "replay"})
	if err := blames(must(t, r, err), inNumber); err != nil {
		t.Errorf("replay: %v", err)
	}
	for _, strategy := range []string{"random", "depth-first"} {
		r, err = check.Check(t.Context(), s,
			check.Options{Out: strategy, Executions: 5, Search: check.Search{Strategy: strategy}})
		if err := blames(must(t, r, err), inNumber); err != nil {
			t.Errorf("%s: %v", strategy, err)
		}
	}
}

// TestWhoAsksIsNoExcuse: who asks what there is was told that there are no random numbers, where
// that can be: what differs then is Ariadne's doing until it is known better. Where it cannot be
// trapped, nobody was told.
func TestWhoAsksIsNoExcuse(t *testing.T) {
	if !tracee.CanTrapCPUID() {
		t.Skip("this machine cannot trap cpuid")
	}
	s := built(t, "gcc", numberC, "-DFAILS=0", "-DASKS", "-DDOUBT")
	r, err := check.Check(t.Context(), s, audited())
	if must(t, r, err).Outcome != record.ToolBug {
		t.Errorf("%v, doubts %q", r.Outcome, r.Doubts)
	}
	withoutTraps(t)
	r, err = check.Check(t.Context(), s, audited())
	if err := blames(must(t, r, err), inNumber); err != nil {
		t.Errorf("cpuid cannot be trapped: %v", err)
	}
}

func TestRandomDevice(t *testing.T) {
	for _, source := range []string{deviceC, strings.Replace(deviceC, `d("rdrand")`, "d", 1)} {
		s := built(t, "g++", source)
		for _, can := range []bool{true, false} {
			if !can {
				withoutTraps(t)
			}
			r, err := check.Check(t.Context(), s, audited())
			if must(t, r, err).Outcome != record.Nothing {
				t.Errorf("cpuid can be trapped: %v: %v, bugs %q, doubts %q", can, r.Outcome, r.Bugs, r.Doubts)
			}
		}
	}
}

func audited() check.Options {
	return check.Options{System: system.Options{Version: "test"}, Out: "check",
		Search: check.Search{Strategy: "depth-first", Audit: 1}}
}

// withoutTraps has nodes run, and differences judged, as where cpuid cannot be trapped.
func withoutTraps(t *testing.T) {
	can := tracee.CanTrapCPUID
	tracee.CanTrapCPUID = func() bool { return false }
	t.Cleanup(func() { tracee.CanTrapCPUID = can })
}

// TestTimeStampCounter: a program that reads the counter does the same each time, also where the
// processor cannot be told to trap that.
func TestTimeStampCounter(t *testing.T) {
	const source = `#include <stdio.h>
#include <unistd.h>
#include <x86intrin.h>
int main(void)
{
	sleep(1);
	printf("%llu\n", __rdtsc());
}
`
	s := built(t, "gcc", source)
	for _, can := range []func() (bool, error){tracee.CanTrapTSC, func() (bool, error) { return false, nil }} {
		was := tracee.CanTrapTSC
		tracee.CanTrapTSC = can
		r, err := check.Check(t.Context(), s, audited())
		if must(t, r, err); r.Outcome != record.Nothing {
			t.Errorf("%v, bugs %q, doubts %q", r.Outcome, r.Bugs, r.Doubts)
		}
		tracee.CanTrapTSC = was
	}
}
