package guest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stuck is a client that waits for an answer of a server that gives none. When it is
// told to, the server forgets the connection, and the collection that Go's runtime
// forces after two minutes closes it.
const stuck = `package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"time"
)

func main() {
	if os.Args[1] != "client" {
		serve(os.Args[1] == "forgets")
	}
	time.Sleep(100 * time.Millisecond)
	c, err := net.Dial("tcp", "server:7000")
	if err != nil {
		panic(err)
	}
	_, err = c.Read(make([]byte, 1))
	fmt.Println(err)
}

var kept net.Conn

func serve(forgets bool) {
	l, err := net.Listen("tcp", ":7000")
	if err != nil {
		panic(err)
	}
	runtime.GC() // the runtime forces none before the first
	accept(l, forgets)
	accept(l, forgets)
}

//go:noinline
func accept(l net.Listener, forgets bool) {
	c, err := l.Accept()
	if err != nil {
		panic(err)
	}
	if !forgets {
		kept = c
	}
}
`

// TestStuckGo: a Go program's own timers hide no deadlock, and what they bring about is
// waited for: it is past the time limit, but no deadlock.
func TestStuckGo(t *testing.T) {
	command, err := ariadne()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("stuck.go", stuck)
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "stuck"), filepath.Join(dir, "stuck.go"))
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for how, want := range map[string]string{
		"keeps":   "deadlock: node client: no message is in flight and no timer is set, but client has not ended",
		"forgets": "): the limit of virtual time was reached after ",
	} {
		write("spec.yaml", "nodes:\n  - name: server\n    command: ./stuck "+how+"\n  - name: client\n    command: ./stuck client\n    client: true\n")
		run := finish(t,
			exec.CommandContext(t.Context(), command, "run", "--out", filepath.Join(dir, how),
				filepath.Join(dir, "spec.yaml")))
		if !strings.Contains(run.stdout, want) {
			t.Errorf("%s: %s%s", how, run.stdout, run.stderr)
		}
	}
}
