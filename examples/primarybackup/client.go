package main

import (
	"fmt"
	"time"
)

const (
	patience = 2 * time.Second // then the client asks again
	leisure  = time.Second     // between two updates
)

// write makes updates, one after the other, and asks until each is done.
func write(e *endpoint, members []string, writes int) error {
	for i := range writes {
		update := fmt.Sprintf("w%d", i+1)
		fmt.Printf("writes %s\n", update)
		done := false
		for !done {
			for _, m := range members {
				e.send(m, message{Kind: "write", Update: update})
			}
			for until := time.Now().Add(patience); !done; {
				m, ok := e.receive(until)
				if !ok && !time.Now().Before(until) {
					break
				}
				done = ok && m.Kind == "done" && m.Update == update
			}
		}
		fmt.Printf("done %s\n", update)
		time.Sleep(leisure)
	}
	return nil
}
