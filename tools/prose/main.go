// Command prose reads what people read: comments in Go and the documents in Markdown. Without flags
// it prints each line of prose that is wider than 100 columns, each line of code that is wider than
// 120, each doc comment that does not begin with the name that it stands on, each doc comment that
// begins with another name of its package, each trace of a mechanical rename, each sentence of a
// doc comment that begins with a pronoun in the place of a noun ("Who waits continues."), each
// avoided word in a document, and each sentence of a document with more than 25 words.
// testdata/exceptions.txt lists how many of the others each file still has; a test fails when a
// file has more. Names, renames and pronouns have no exceptions. With -lower the list is shortened
// to what is there. With -w wide comments and paragraphs are wrapped, and long pages get a table of
// contents. With -code wide lines of code are divided. With -messages the list of what the command
// line can print is written.
//
// It decides nothing else about code. A line of code with a text of more than 60 characters may be
// as wide as it must be.
//
// Read next: lint.go, strays.go, pages.go, wrap.go, messages.go.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	write := flag.Bool("w", false, "wrap wide comments and paragraphs in the files and folders that are named, and give long pages a table of contents")
	code := flag.Bool("code", false, "divide wide lines of code in the files and folders that are named")
	lower := flag.Bool("lower", false, "lower the counts of "+exceptionsFile+" to what is there")
	list := flag.Bool("messages", false, "write "+messagesFile+", the list of what the command line can print")
	flag.Parse()
	if *list {
		text, err := allMessages()
		if err == nil {
			err = os.WriteFile(messagesFile, []byte(text), 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "prose:", err)
			os.Exit(1)
		}
		return
	}
	if *code {
		err := rewrite(flag.Args(), func(path string, text []byte) ([]byte, error) {
			if filepath.Ext(path) != ".go" {
				return text, nil
			}
			return narrowGo(text)
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, "prose:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*write, *lower, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

const exceptionsFile = "tools/prose/testdata/exceptions.txt"

func run(write, lower bool, roots []string) error {
	if len(roots) == 0 {
		roots = []string{"."}
	}
	if write {
		return rewrite(roots, wrapFile)
	}
	all, _, err := lintTree(roots)
	if err != nil {
		return err
	}
	if lower {
		old, err := os.ReadFile(exceptionsFile)
		if err != nil {
			return err
		}
		return os.WriteFile(exceptionsFile, []byte(lowered(parseExceptions(string(old)), count(all)).String()), 0o644)
	}
	for _, f := range all {
		fmt.Println(f)
	}
	return nil
}

// rewrite replaces the files below the roots that change, and prints their names.
func rewrite(roots []string, change func(path string, text []byte) ([]byte, error)) error {
	return files(roots, func(path string, text []byte) error {
		changed, err := change(path, text)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if bytes.Equal(changed, text) {
			return nil
		}
		fmt.Println(path)
		return os.WriteFile(path, changed, 0o644)
	})
}

// lintTree returns what is wrong with the files below the roots, and how many files there are.
func lintTree(roots []string) (all []finding, read int, err error) {
	p := newPackages()
	err = files(roots, func(path string, text []byte) error {
		read++
		found, err := lint(path, text)
		all = append(all, found...)
		if err == nil && filepath.Ext(path) == ".go" {
			err = p.add(path, text)
		}
		return err
	})
	return append(all, p.strays()...), read, err
}

// files calls do with each Go and Markdown file below the roots that a person of this project has
// written.
func files(roots []string, do func(path string, text []byte) error) error {
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && path != root && skipped(d.Name()):
				return fs.SkipDir
			case d.IsDir() || filepath.Ext(path) != ".go" && filepath.Ext(path) != ".md":
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil || generated(text) {
				return err
			}
			return do(filepath.ToSlash(path), text)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// skipped reports whether a folder holds what was not written here.
func skipped(name string) bool {
	return name == "testdata" || name == "ariadne-runs" || name == "bin" || name == "vendor" ||
		strings.HasPrefix(name, ".")
}

// generated reports whether a program has written a file, by its first lines.
func generated(text []byte) bool {
	head := text[:min(len(text), 600)]
	return bytes.Contains(head, []byte("Code generated ")) || bytes.Contains(head, []byte("Generated by")) ||
		bytes.Contains(head, []byte("make generate")) && bytes.HasPrefix(head, []byte("<!--"))
}
