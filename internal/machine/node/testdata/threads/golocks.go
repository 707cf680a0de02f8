// Goroutines do what texts say, a letter at a time, and only locks and channels are between them.
// The main one does what the last text says:
//
//	L, U  take the lock, give it back
//	T     try to take the lock, write + or -, and with - go on behind the next U
//	R, S  take the other lock for reading, give it back
//	W, X  take it for writing, give it back
//	s, g  send to a channel with room for one value, receive from it
//	r, w  read the number, write one more than was read
//	others write themselves
//
// The program prints what was written, and the number unless it is 0.
package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

var (
	lock    sync.Mutex
	other   sync.RWMutex
	channel = make(chan bool, 1)
	number  int
	written []byte
)

func run(text string, ends *sync.WaitGroup) {
	seen := 0
	for text != "" {
		letter := text[0]
		text = text[1:]
		switch letter {
		case 'L':
			lock.Lock()
		case 'U':
			lock.Unlock()
		case 'T':
			if lock.TryLock() {
				written = append(written, '+')
			} else {
				written = append(written, '-')
				_, text, _ = strings.Cut(text, "U")
			}
		case 'R':
			other.RLock()
		case 'S':
			other.RUnlock()
		case 'W':
			other.Lock()
		case 'X':
			other.Unlock()
		case 's':
			channel <- true
		case 'g':
			<-channel
		case 'r':
			seen = number
		case 'w':
			number = seen + 1
		default:
			written = append(written, letter)
		}
	}
	ends.Done()
}

func main() {
	var ends sync.WaitGroup
	written = make([]byte, 0, 100)
	ends.Add(len(os.Args) - 1)
	last := len(os.Args) - 1
	for _, text := range os.Args[1:last] {
		go run(text, &ends)
	}
	run(os.Args[last], &ends)
	ends.Wait()
	if number > 0 {
		fmt.Printf("%s%d\n", written, number)
	} else {
		fmt.Printf("%s\n", written)
	}
}
