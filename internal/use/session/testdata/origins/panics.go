// Ends in one way or another.
package main

import (
	"log"
	"os"
)

//go:noinline
func first(of []int) int {
	return of[0]
}

//go:noinline
func deref(p *int) int {
	return *p
}

func main() {
	switch {
	case len(os.Args) == 1:
		first(nil)
	case os.Args[1] == "exit":
		log.Fatal("no more")
	}
	deref(nil)
}
