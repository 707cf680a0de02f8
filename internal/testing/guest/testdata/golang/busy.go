// Computing goroutines that make no call still let others run.
// guest: spins
package main

import (
	"fmt"
	"sync/atomic"
	"time"
)

func main() {
	var stop atomic.Bool
	var turns atomic.Int64
	for range 3 {
		go func() {
			for !stop.Load() {
				turns.Add(1)
			}
		}()
	}
	time.Sleep(30 * time.Millisecond)
	stop.Store(true)
	fmt.Println("ran", turns.Load() > 0)
}
