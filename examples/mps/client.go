package main

import (
	"fmt"
	"time"
)

const (
	patience = 2 * time.Second // then the client asks again
	leisure  = time.Second     // between two values
)

// write has values committed, one after the other, and asks until each is.
func write(members []string, writes int) error {
	e, err := listen("client")
	if err != nil {
		return err
	}
	for i := range writes {
		value := fmt.Sprintf("w%d", i+1)
		fmt.Printf("writes %s\n", value)
		done := false
		for !done {
			for _, m := range members {
				e.send(m, message{Kind: "write", Value: value})
			}
			for until := time.Now().Add(patience); !done; {
				m, ok := e.receive(until)
				if !ok && !time.Now().Before(until) {
					break
				}
				done = ok && m.Kind == "done" && m.Value == value
			}
		}
		fmt.Printf("done %s\n", value)
		time.Sleep(leisure)
	}
	return nil
}
