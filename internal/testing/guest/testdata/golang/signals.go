// Notified, ignored and fatal signals.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

func main() {
	c := make(chan os.Signal, 4)
	signal.Notify(c, syscall.SIGUSR1, syscall.SIGTERM)
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	fmt.Println(<-c)
	syscall.Kill(os.Getpid(), syscall.SIGTERM)
	fmt.Println(<-c)
	signal.Ignore(syscall.SIGHUP)
	syscall.Kill(os.Getpid(), syscall.SIGHUP)
	fmt.Println("ignored", signal.Ignored(syscall.SIGHUP))
	cmd := exec.Command("sleep", "100")
	fmt.Println(cmd.Start())
	cmd.Process.Signal(syscall.SIGINT)
	fmt.Println(cmd.Wait())
	signal.Reset(syscall.SIGTERM)
	syscall.Kill(os.Getpid(), syscall.SIGTERM)
	select {}
}
