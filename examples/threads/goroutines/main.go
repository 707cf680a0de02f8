// Goroutines makes two deposits of one amount each, as update.c does: a clerk reads the balance,
// and then writes what it is with the deposit. The careless one gives the lock back in between, and
// a deposit is lost. The lock is free in the natural order, so no call shows that it is taken.
package main

import (
	"fmt"
	"os"
	"sync"
)

var (
	lock    sync.Mutex
	balance int
)

func deposit(careful bool) {
	lock.Lock()
	was := balance
	if !careful {
		lock.Unlock()
		lock.Lock()
	}
	balance = was + 1
	lock.Unlock()
}

func main() {
	careful := len(os.Args) < 2 || os.Args[1] != "careless"
	var other sync.WaitGroup
	other.Go(func() { deposit(careful) })
	deposit(careful)
	other.Wait()
	if balance != 2 {
		fmt.Println("balance", balance)
		os.Exit(1)
	}
}
