// Files, directories, locks and pipes through the standard library.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

func main() {
	fmt.Println(os.MkdirAll("a/b/c", 0o755))
	fmt.Println(os.WriteFile("a/b/f", []byte("line 1\nline 2\n"), 0o644))
	f, _ := os.Open("a/b/f")
	s := bufio.NewScanner(f)
	for s.Scan() {
		fmt.Println(s.Text())
	}
	fmt.Println(os.Rename("a/b/f", "a/g"))
	filepath.WalkDir("a", func(path string, d fs.DirEntry, err error) error {
		fmt.Println(path, d.IsDir(), err)
		return nil
	})
	_, err := os.Stat("missing")
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	_, err = os.OpenFile("a/g", os.O_CREATE|os.O_EXCL, 0)
	fmt.Println(errors.Is(err, fs.ErrExist))
	g, _ := os.OpenFile("a/g", os.O_RDWR|os.O_APPEND, 0)
	h, _ := os.OpenFile("a/g", os.O_RDWR, 0)
	fmt.Println(syscall.Flock(int(g.Fd()), syscall.LOCK_EX|syscall.LOCK_NB))
	fmt.Println(syscall.Flock(int(h.Fd()), syscall.LOCK_EX|syscall.LOCK_NB))
	fmt.Fprintln(g, "line 3")
	fmt.Println(g.Sync(), g.Truncate(10))
	i, _ := g.Stat()
	fmt.Println(i.Size(), i.Mode())
	m, err := syscall.Mmap(int(h.Fd()), 0, 10, syscall.PROT_READ, syscall.MAP_SHARED)
	fmt.Printf("%q %v\n", m, err)
	r, w, _ := os.Pipe()
	go func() {
		fmt.Fprint(w, "piped")
		w.Close()
	}()
	b, err := io.ReadAll(r)
	fmt.Printf("%q %v\n", b, err)
	fmt.Println(os.RemoveAll("a"))
	e, err := os.ReadDir(".")
	fmt.Println(len(e), err)
}
