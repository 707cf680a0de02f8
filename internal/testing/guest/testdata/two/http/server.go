// An HTTP server of three requests.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	n := make(chan int, 3)
	srv := &http.Server{Addr: ":" + os.Args[1]}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		fmt.Println(r.Method, r.URL, string(b))
		fmt.Fprintf(w, "you asked for %s", r.URL)
		n <- 1
	})
	go func() {
		for range 3 {
			<-n
		}
		srv.Shutdown(context.Background())
		close(n)
	}()
	fmt.Println(srv.ListenAndServe())
	for range n {
	}
}
