// Goroutines, channels, mutexes, wait groups, select.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

func main() {
	in, out := make(chan int), make(chan int)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for v := range in {
				out <- v * v
			}
		})
	}
	go func() {
		for i := range 1000 {
			in <- i
		}
		close(in)
		wg.Wait()
		close(out)
	}()
	sum := 0
	for v := range out {
		sum += v
	}
	fmt.Println("sum", sum)

	var mu sync.Mutex
	n := 0
	for range 50 {
		wg.Go(func() {
			for range 100 {
				mu.Lock()
				n++
				mu.Unlock()
				runtime.Gosched()
			}
		})
	}
	wg.Wait()
	fmt.Println("n", n)

	var once sync.Once
	for range 3 {
		once.Do(func() { fmt.Println("once") })
	}
	select {
	case <-make(chan int):
	case <-time.After(10 * time.Millisecond):
		fmt.Println("after")
	}
	func() {
		defer func() { fmt.Println("recovered:", recover()) }()
		var p *int
		*p = 1
	}()
	runtime.GC()
	fmt.Println("done")
}
