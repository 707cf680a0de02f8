//go:build linux

package disk

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killedVar has a process of this test check a stack in a directory, until it is killed.
const killedVar = "ARIADNE_TEST_KILLED"

// sleeperVar has that process check a stack with a thread that sleeps.
const sleeperVar = "ARIADNE_TEST_SLEEPER"

// checkForever checks a stack in a directory again and again.
func checkForever(dir string) {
	text := ext4Stack + "files: {}\nrecovery: true"
	if os.Getenv(sleeperVar) != "" {
		text = sleeper
	}
	s, err := Parse(filepath.Join(dir, "test.yaml"), []byte(text))
	for n := 0; err == nil; n++ {
		temp := filepath.Join(dir, fmt.Sprint(n))
		if err = os.Mkdir(temp, 0o700); err == nil {
			_, err = Check(context.Background(), Options{Spec: s, Workers: 3, Temp: temp})
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// left is what is left of a process and its workers: processes, loop devices and mounts.
func left(t *testing.T, dir string) (all []string) {
	t.Helper()
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range environs {
		if b, err := os.ReadFile(name); err == nil && bytes.Contains(b, []byte(killedVar+"="+dir)) {
			all = append(all, name)
		}
	}
	backing, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, name := range backing {
		if b, err := os.ReadFile(name); err == nil && strings.HasPrefix(string(b), dir) {
			all = append(all, name+": "+strings.TrimSpace(string(b)))
		}
	}
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(b), "\n") {
		if strings.Contains(line, dir) {
			all = append(all, line)
		}
	}
	return all
}

// TestKilled: nothing stays mounted, attached or running when Ariadne is killed at a random moment.
func TestKilled(t *testing.T) {
	able(t, "mkfs.ext4")
	times := 6
	if os.Getenv("ARIADNE_LONG") != "" {
		times = 50
	}
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	attached := 0
	for range times {
		dir := t.TempDir()
		c := exec.Command("/proc/self/exe")
		c.Env = append(os.Environ(), killedVar+"="+dir)
		var said bytes.Buffer
		c.Stderr = &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration(r.Int64N(int64(3 * time.Second)))
		time.Sleep(after)
		if len(left(t, dir)) > 1 {
			attached++
		}
		c.Process.Kill()
		if c.Wait(); c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("the process ended by itself: %s", &said)
		}
		gone(t, dir)
	}
	if attached == 0 {
		t.Error("no worker was running at any kill: the test says nothing")
	}
}
