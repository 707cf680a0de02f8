// Choices of a search, and the first of them where nobody searches.
package main

import (
	"fmt"
	"os"
)

func choose(n int) (c int) {
	if f, err := os.OpenFile("/dev/ariadne", os.O_RDWR, 0); err == nil {
		defer f.Close()
		fmt.Fprintf(f, "choose %d\n", n)
		fmt.Fscanln(f, &c)
	}
	return c
}

func main() { fmt.Println(choose(3), choose(2), choose(5)) }
