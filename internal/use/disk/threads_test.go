//go:build linux

package disk

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// journal is a layer that keeps lines, each in a file of its own, and joins them in one file at
// some time. sync says whether the one file is durable before the others are removed.
func journal(sync string) string {
	return ext4Stack + `
- name: journal
  mount: mount --bind $ARIADNE_BELOW $ARIADNE_MOUNT
  unmount: umount $ARIADNE_MOUNT
  threads: ['cd $ARIADNE_MOUNT; set -- line*; [ -e $1 ] || exit 0; cat $* >> all; ` + sync + ` rm $*; sync .']
images: 8
checker:
  init: ': > line0; sync . line0'
  mutate: 'n=$ARIADNE_MUTATION; : > tmp; echo $n >> tmp; sync tmp; mv tmp line$n; sync .; echo promise $n > /dev/ariadne'
  check: 'for n in $ARIADNE_PROMISES; do grep -qsx $n line$n all || { echo a line is lost; exit 1; }; done'
`
}

// TestThreads: a thread runs not at all, after and beside each mutation. A bug of it is found, and
// the report says that the thread has to run for it.
func TestThreads(t *testing.T) {
	able(t, "mkfs.ext4")
	good := check(t, Options{Spec: parse(t, journal("sync all .;"))})
	if good.Executions != 3 || good.Failed+good.Undecided > 0 {
		t.Error(printed(good))
	}
	bad := check(t, Options{Spec: parse(t, journal(""))})
	text := printed(bad)
	if bad.Executions != 3 || len(bad.Groups) != 1 || !slices.Equal(bad.Groups[0].Threads, []string{"journal"}) ||
		!slices.Equal(bad.Groups[0].Blamed, []string{"journal"}) {
		t.Error(text)
	}
	for _, want := range []string{"thread 1 of journal ",
		"threads of the layer journal run in all executions with such images",
		"without the layer journal: 1 execution, "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	twice := check(t, Options{Spec: parse(t, journal("sync all .;")+"  mutations: 2\n")})
	if twice.Executions != 9 || twice.Failed > 0 {
		t.Error(printed(twice))
	}
}

// TestThreadsOfOthers: a failure that does not need a thread is not blamed on one, and the
// ready-made checker has each way of each workload.
func TestThreadsOfOthers(t *testing.T) {
	able(t, "mkfs.ext4")
	r := check(t, Options{Spec: parse(t, `
stack:
- {device: 8MB, lies: true}
- {name: ext4, filesystem: ext4, threads: ['sync -f $ARIADNE_MOUNT', 'true']}
images: 4
files: {without: [mkdir, link, unlink, rmdir, rename, write, truncate]}
`), Executions: 18})
	if r.Planned%9 != 0 || r.Executions != 18 || r.Failed == 0 || len(r.Groups) == 0 {
		t.Fatal(printed(r))
	}
	for _, g := range r.Groups {
		if g.Threads != nil {
			t.Error(printed(r))
		}
	}
}

// TestThreadErrors: a thread that fails, or leaves something at work, ends the check with the name
// of its layer.
func TestThreadErrors(t *testing.T) {
	able(t, "mkfs.ext4")
	for command, want := range map[string]string{
		"echo no room; exit 3": "thread 1 of ext4 after it: ext4: threads: exit status 3: no room",
		"sleep 1000":           "ext4: threads: it did not end within 2s",
		"sleep 1000 & true":    "ext4: threads: processes of the command are still at work after it has ended",
	} {
		_, err := Check(context.Background(), Options{Spec: parse(t, `
stack:
- {device: 8MB}
- {name: ext4, filesystem: ext4, threads: ['`+command+`']}
timeout: 2s
images: 1
checker: {mutate: 'true', check: 'true'}
`), Workers: 1, Temp: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, and should contain %q", err, want)
		}
	}
}

// sleeper is a spec with a thread that sleeps.
const sleeper = `
stack:
- {device: 8MB}
- {name: ext4, filesystem: ext4, threads: [sleep 1000]}
images: 1
checker: {mutate: 'true', check: 'true'}
`

// asleep waits until a thread of a process with a variable of the environment sleeps.
func asleep(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		for _, name := range left(t, dir) {
			comm, err := os.ReadFile(filepath.Join(filepath.Dir(name), "comm"))
			if err == nil && string(comm) == "sleep\n" {
				return
			}
		}
	}
	t.Fatal("no thread has begun")
}

// gone waits until nothing of a check is left.
func gone(t *testing.T, dir string) {
	t.Helper()
	var all []string
	deadline := time.Now().Add(20 * time.Second)
	for all = left(t, dir); len(all) > 0 && time.Now().Before(deadline); all = left(t, dir) {
		time.Sleep(20 * time.Millisecond)
	}
	if len(all) > 0 {
		t.Fatalf("these are left:\n%s", strings.Join(all, "\n"))
	}
}

// TestThreadKilled: a thread ends when Ariadne is killed, and when a check is interrupted.
func TestThreadKilled(t *testing.T) {
	able(t, "mkfs.ext4")
	dir := t.TempDir()
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), killedVar+"="+dir, sleeperVar+"=1")
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	asleep(t, dir)
	c.Process.Kill()
	c.Wait()
	gone(t, dir)

	dir = t.TempDir()
	t.Setenv(killedVar, dir) // of the workers
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	o := Options{Spec: parse(t, sleeper), Workers: 1, Temp: t.TempDir()}
	go func() {
		_, err := Check(ctx, o)
		done <- err
	}()
	asleep(t, dir)
	cancel()
	if err := <-done; !Interrupted(err) {
		t.Error(err)
	}
	gone(t, dir)
}
