// Command kernelfuzz compares the emulated kernel with Linux: it makes up sequences of
// system calls, lets an interpreter (testdata/interp.c) make them natively and under
// Ariadne, and shows where the results part, shrunk to what is needed. A sequence is a text that is
// kept, once what it found is fixed, in testdata/cases.
//
// It is no search for crashes: calls are mostly meaningful. The interpreter does not print
// legitimate differences, or they are not generated. docs/internals/limits.md lists them.
//
// Read next: families.go, what is generated; case.go, what is compared.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	calls := flag.Int("calls", 100_000, "stop after so many calls")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano())%1e9*1000, "the first case's seed")
	only := flag.String("family", "", "only cases of this family")
	ariadne := flag.String("ariadne", "bin/ariadne", "the binary")
	batch := flag.Int("batch", 100, "cases in one run")
	shrink := flag.Bool("shrink", true, "shrink what differs, which takes many runs; otherwise only what comes later is left out")
	file := flag.String("file", "", "run the cases of a file instead")
	print := flag.Int("print", 0, "only print so many cases")
	flag.Parse()
	for i := range *print {
		write(os.Stdout, []Case{Generate(*seed + uint64(i))})
	}
	if *print > 0 {
		return
	}
	if err := fuzz(*calls, *seed, *only, *ariadne, *batch, *shrink, *file); err != nil {
		fmt.Fprintln(os.Stderr, "kernelfuzz:", err)
		os.Exit(1)
	}
}

func fuzz(calls int, seed uint64, only, ariadne string, batch int, shrink bool, file string) error {
	ariadne, err := filepath.Abs(ariadne)
	if err != nil {
		return err
	}
	b, err := NewBench("tools/kernelfuzz/testdata", ariadne)
	if err != nil {
		return err
	}
	defer b.Close()
	if err := b.Possible(); err != nil {
		return err
	}
	if file != "" {
		return b.runFile(file)
	}
	fmt.Printf("seed %d\n", seed)
	seen := map[string]int{}
	done := 0
	perFamily := map[string]int{}
	for done < calls {
		var cases []Case
		for len(cases) < batch {
			c := Generate(seed)
			seed++
			name, _, _ := strings.Cut(c.Name, "-")
			if only != "" && only != name {
				continue
			}
			cases = append(cases, c)
			done += len(c.Lines)
			perFamily[name] += len(c.Lines)
		}
		found, err := b.Differences(cases)
		if err != nil {
			fmt.Printf("cases from %s on: %v\n", cases[0].Name, err)
			continue
		}
		for _, f := range found {
			if seen[f.Kind()]++; seen[f.Kind()] > 1 {
				continue
			}
			small := f
			small.Case.Lines = f.until()
			if shrink {
				if small, err = b.Shrink(f); err != nil {
					fmt.Println(err)
				}
			}
			fmt.Printf("\n# natively: %s\n# ariadne:  %s\n", small.Native, small.Ariadne)
			write(os.Stdout, []Case{small.Case})
		}
	}
	fmt.Printf("\n%d calls, %v; %d kinds of differences\n", done, perFamily, len(seen))
	for k, n := range seen {
		fmt.Printf("%6d %s\n", n, k)
	}
	if len(seen) > 0 {
		return fmt.Errorf("%d kinds of differences", len(seen))
	}
	return nil
}

// runFile shows what the cases of a file do.
func (b *Bench) runFile(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	cases, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	native, emulated, err := b.Both(cases)
	if err != nil {
		return err
	}
	for _, c := range cases {
		fmt.Println("case", c.Name)
		n, a := native[c.Name], emulated[c.Name]
		for i := range max(len(n), len(a)) {
			switch {
			case i < len(n) && i < len(a) && n[i] == a[i]:
				fmt.Println("  " + n[i])
			default:
				if i < len(n) {
					fmt.Println("- " + n[i])
				}
				if i < len(a) {
					fmt.Println("+ " + a[i])
				}
			}
		}
	}
	return nil
}
