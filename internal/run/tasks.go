package run

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"ariadne"
	host "ariadne/internal/machine"
)

// fewestTasks is how many processes and threads Ariadne may need besides those of the
// nodes. Without them Go's runtime would end it in the midst of anything.
const fewestTasks = 24

// enoughTasks says that there may not be so many, or makes sure of them: threads that
// Go's runtime has once made it keeps, and a node cannot take them away.
var enoughTasks = sync.OnceValue(func() error {
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
})
