// Command testsum runs go test and says at the end what was skipped and why: a
// test that cannot run on a machine must not pass for one that did. Its last lines
// are go test's own, one per package.
//
//	go run ./tools/testsum [go test's arguments]
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	cmd := exec.Command("go", append([]string{"test", "-json"}, os.Args[1:]...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(2)
	}
	summarize(out, os.Stdout)
	if err := cmd.Wait(); err != nil {
		fmt.Println("FAIL")
		os.Exit(1)
	}
}

// event is a line of go test -json (go doc test2json).
type event struct {
	Action, Package, Test, Output string
}

// summarize shows on w what fails as it fails and each package as it ends, and at
// the end the skips by reason and the packages again.
func summarize(events io.Reader, w io.Writer) {
	output := map[string][]string{} // by package and test
	skips := map[string]int{}       // by reason
	var packages []string
	for dec := json.NewDecoder(events); ; {
		var e event
		if err := dec.Decode(&e); err != nil {
			break
		}
		key := e.Package + " " + e.Test
		switch {
		case e.Action == "build-output", e.Action == "output" && isVerdict(e):
			fmt.Fprint(w, e.Output)
			if e.Action == "output" {
				packages = append(packages, e.Output)
			}
		case e.Action == "output" && !strings.HasPrefix(e.Output, "=== "): // which say that it runs
			output[key] = append(output[key], e.Output)
		case e.Action == "skip" && e.Test != "":
			skips[reason(output[key])]++
		case e.Action == "fail":
			fmt.Fprint(w, strings.Join(output[key], ""))
		}
		if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
			delete(output, key)
		}
	}
	if len(skips) > 0 {
		fmt.Fprintln(w, "\nskipped tests, by reason:")
	}
	for _, why := range slices.Sorted(maps.Keys(skips)) {
		fmt.Fprintf(w, "%6d  %s\n", skips[why], why)
	}
	fmt.Fprintln(w, "\npackages:")
	for _, p := range packages {
		fmt.Fprint(w, p)
	}
}

// isVerdict reports whether an output is go test's line on a package.
func isVerdict(e event) bool {
	if e.Test != "" {
		return false
	}
	for _, prefix := range []string{"ok  \t", "FAIL\t"} {
		if strings.HasPrefix(e.Output, prefix) {
			return true
		}
	}
	return false
}

// reason is what a test said when it skipped: the text behind file and line.
func reason(output []string) string {
	why := "no reason given"
	for _, line := range output {
		file, text, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if ok && strings.Contains(file, ".go:") {
			why = text
		}
	}
	return why
}
