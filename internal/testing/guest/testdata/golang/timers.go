// Timers, tickers, sleeping, contexts.
package main

import (
	"context"
	"fmt"
	"time"
)

func main() {
	start := time.Now()
	time.Sleep(20 * time.Millisecond)
	fmt.Println("slept", time.Since(start) >= 20*time.Millisecond)

	done := make(chan int, 3)
	for _, ms := range []int{450, 50, 250} {
		time.AfterFunc(time.Duration(ms)*time.Millisecond, func() { done <- ms })
	}
	fmt.Println(<-done, <-done, <-done)

	t := time.NewTicker(5 * time.Millisecond)
	for range 5 {
		<-t.C
	}
	t.Stop()
	fmt.Println("ticked", time.Since(start) >= 100*time.Millisecond)

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	<-ctx.Done()
	fmt.Println(ctx.Err())

	stopped := time.NewTimer(time.Hour)
	fmt.Println(stopped.Stop(), stopped.Stop())
	a, b := time.Now(), time.Now()
	fmt.Println("forward", !b.Before(a))
	fmt.Println(time.Unix(0, 0).UTC())
}
