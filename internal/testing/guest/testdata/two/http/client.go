// A client that asks three times, as soon as there is a server.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	url := "http://" + os.Args[1] + ":" + os.Args[2]
	for i := range 3 {
		var r *http.Response
		var err error
		for range 500 {
			if r, err = http.Post(fmt.Sprint(url, "/", i), "text/plain", strings.NewReader(strings.Repeat("x", i))); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err != nil {
			fmt.Println("cannot go on:", err)
			os.Exit(99)
		}
		b, err := io.ReadAll(r.Body)
		r.Body.Close()
		fmt.Println(r.Status, string(b), err)
	}
}
