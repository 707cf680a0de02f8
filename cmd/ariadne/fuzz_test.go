package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"pgregory.net/rapid"

	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"
)

// TestAnyCommandLine: whatever the command line, it is understood or there is one line
// that says what is wrong with it, a hint perhaps, and status 2.
func TestAnyCommandLine(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"empty.yaml": "", "bad.yaml": "nodes: [{comand: x}]\n", "binary": "\x7fELF\x00\xff",
		"deep.yaml": strings.Repeat("[", 20_000),
		"cut":       "ariadne trace 2\nversion 0\n", "bomb.yaml": "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nnodes: [*b,*b,*b,*b]\n",
		"columns.txt": "x  y\n", "self.yaml": "nodes: &a [*a]\n", "merge.yaml": "nodes: [{<<: {command: x}}]\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var commands [][]string
	flags := map[string][]*pflag.Flag{}
	root := (&app{}).root()
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		if c.Hidden || c.Name() == "doctor" || c.Name() == "init" { // which act without an argument
			return
		}
		commands = append(commands, path)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			flags[strings.Join(path, " ")] = append(flags[strings.Join(path, " ")], f)
		})
		for _, sub := range c.Commands() {
			walk(sub, append(slices.Clone(path), sub.Name()))
		}
	}
	walk(root, nil)
	values := rapid.OneOf(
		rapid.SampledFrom([]string{"", "0", "1", "-1", "none", "NaN", "Inf", "-0", "1e9", "0x10", "1_000",
			"9223372036854775807", "9223372036854775808", "-9223372036854775808",
			"18446744073709551616", "1s", "-1s", "0s", "9999999h", "1.5", "2", "4G", "-4G", "99999999999G", "/(/",
			"/x/", "//", "[", "(", "a=b", "deliver=1", "deliver=", "=", ",", "n1,n2",
			".", "/", "/dev/null", "/dev/full", "no-such-file", "empty.yaml", "bad.yaml", "binary", "true", "\x00",
			"\xff", "ä", "--", "-", strings.Repeat("9", 5000)}),
		rapid.StringMatching(`[ -~]{0,12}`))
	files := rapid.SampledFrom([]string{"none.yaml", "empty.yaml", "bad.yaml", "binary", "deep.yaml", "cut",
		"bomb.yaml", "columns.txt", "self.yaml", "merge.yaml", ".", "/dev/null", "\x00"})
	rapid.Check(t, func(t *rapid.T) {
		args := slices.Clone(rapid.SampledFrom(commands).Draw(t, "command"))
		for range rapid.IntRange(0, 3).Draw(t, "flags") {
			known := flags[strings.Join(args[:min(len(args), 2)], " ")]
			name := rapid.StringMatching(`[a-z-]{1,8}`).Draw(t, "name")
			if len(known) > 0 && rapid.IntRange(0, 9).Draw(t, "known") > 0 {
				name = rapid.SampledFrom(known).Draw(t, "flag").Name
			}
			switch rapid.IntRange(0, 4).Draw(t, "form") {
			case 0:
				args = append(args, "--"+name)
			case 1:
				args = append(args, "--"+name, values.Draw(t, "value"))
			default:
				args = append(args, "--"+name+"="+values.Draw(t, "value"))
			}
		}
		for range rapid.IntRange(0, 2).Draw(t, "arguments") {
			args = append(args, files.Draw(t, "file"))
		}
		var out, said bytes.Buffer
		status := (&app{out: &out, err: &said}).main(args)
		lines := strings.Count(said.String(), "\n")
		switch {
		case status != 0 && status != statusUsage:
			t.Fatalf("%q: status %d: %s", args, status, said.String())
		case status == statusUsage && (said.Len() == 0 || lines > 12), strings.Contains(said.String(), "goroutine "):
			t.Fatalf("%q: %s", args, said.String())
		case status == 0 && said.Len() > 0:
			t.Fatalf("%q: status 0 and %s", args, said.String())
		}
	})
}
