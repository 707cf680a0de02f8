package main

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/host"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// What is the process's own is set here, and nowhere below.

// fewestTasks is how many processes and threads Ariadne may need besides those of the
// nodes. Without them Go's runtime would end it in the midst of anything.
const fewestTasks = 24

// enoughTasks says that there may not be so many, or makes sure of them: threads that
// Go's runtime has once made it keeps, and a node cannot take them away.
func enoughTasks() error {
	spare := 4 + 2*runtime.GOMAXPROCS(0)
	left, limit := host.Tasks()
	if most := fewestTasks + spare; left < most {
		return &ariadne.LimitError{Err: fmt.Errorf("the host lets Ariadne start %d more processes and threads, and it needs %d besides those of the nodes: %w",
			max(left, 0), most, errors.New(limit))}
	}
	var threads sync.WaitGroup
	made, release := make(chan bool), make(chan bool)
	for range spare {
		threads.Go(func() {
			runtime.LockOSThread() // so each has one of its own
			defer runtime.UnlockOSThread()
			made <- true
			<-release
		})
	}
	for range spare {
		<-made
	}
	close(release)
	threads.Wait()
	return nil
}

// forCheck makes the process that of a check with so many workers, which with its nodes uses
// so much memory.
func forCheck(workers int, memory int64) error {
	if err := enoughTasks(); err != nil {
		return err
	}
	// A thread with living nodes mostly waits in the kernel for them. Go takes it to be
	// working for some time, and what else there is to do, or the thread when it
	// comes back, waits: a third of the time, without one place more for each worker.
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), runtime.NumCPU()+workers))
	debug.SetMemoryLimit(check.Heap(memory))
	return nil
}
