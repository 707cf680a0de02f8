// A goroutine that only reads the clock sees that others have slept enough.
package main

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

func main() {
	for _, procs := range []int{1, 4} {
		runtime.GOMAXPROCS(procs)
		var done atomic.Bool
		go func() {
			time.Sleep(5 * time.Millisecond)
			done.Store(true)
		}()
		timer := time.NewTimer(5 * time.Millisecond)
		for start := time.Now(); time.Since(start) < 300*time.Millisecond; {
			if done.Load() {
				break
			}
		}
		fmt.Println(procs, done.Load())
		<-timer.C
	}
}
