package main

import (
	"fmt"
	"os"
	"time"
)

var total int

//go:noinline
func add(a, b int) int { return a + b }

//go:noinline
func work(i int) {
	total = add(total, i)
	fmt.Println("total", total)
}

func main() {
	for i := 1; i <= 3; i++ {
		time.Sleep(10 * time.Millisecond)
		work(i)
	}
	os.Exit(3)
}
