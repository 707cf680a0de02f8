// TCP, UDP and Unix sockets, deadlines, and an HTTP server with its client.
package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"
)

func check(err error) {
	if err != nil {
		fmt.Println("cannot go on:", err)
		os.Exit(99)
	}
}

func echo(network, address string) {
	l, err := net.Listen(network, address)
	check(err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				io.Copy(c, c)
				c.Close()
			}()
		}
	}()
	c, err := net.Dial(network, l.Addr().String())
	check(err)
	fmt.Fprint(c, "hello")
	b := make([]byte, 5)
	_, err = io.ReadFull(c, b)
	fmt.Println(network, string(b), err)
	check(c.SetReadDeadline(time.Now().Add(20 * time.Millisecond)))
	_, err = c.Read(b)
	fmt.Println("time-out", errors.Is(err, os.ErrDeadlineExceeded))
	c.Close()
	_, err = c.Read(b)
	fmt.Println("closed", errors.Is(err, net.ErrClosed))
}

func main() {
	echo("tcp", "127.0.0.1:0")
	echo("tcp", "[::1]:0")
	echo("unix", "socket")

	p, err := net.ListenPacket("udp", "127.0.0.1:0")
	check(err)
	u, err := net.Dial("udp", p.LocalAddr().String())
	check(err)
	fmt.Fprint(u, "datagram")
	b := make([]byte, 100)
	n, from, err := p.ReadFrom(b)
	fmt.Println(string(b[:n]), from.String() == u.LocalAddr().String(), err)

	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	address := l.Addr().String()
	l.Close()
	_, err = net.Dial("tcp", address)
	fmt.Println("refused", errors.Is(err, syscall.ECONNREFUSED))

	l, err = net.Listen("tcp", "127.0.0.1:0")
	check(err)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.Path, body)
	})
	srv := &http.Server{Handler: mux}
	go srv.Serve(l)
	for _, path := range []string{"/a", "/b/c"} {
		r, err := http.Get("http://" + l.Addr().String() + path)
		check(err)
		body, _ := io.ReadAll(r.Body)
		r.Body.Close()
		fmt.Println(r.StatusCode, string(body))
	}
	check(srv.Close())
	i, err := net.InterfaceByName("lo")
	check(err)
	fmt.Println(i.Name, i.Flags&net.FlagLoopback != 0)
}
