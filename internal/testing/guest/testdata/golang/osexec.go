// Running other programs: output, input, exit status, kill, environment.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

func main() {
	out, err := exec.Command("echo", "one", "two words").Output()
	fmt.Printf("%q %v\n", out, err)
	err = exec.Command("sh", "-c", "exit 3").Run()
	var exit *exec.ExitError
	fmt.Println(errors.As(err, &exit), exit.ExitCode())
	sort := exec.Command("sort")
	sort.Stdin = strings.NewReader("c\na\nb\n")
	out, err = sort.Output()
	fmt.Printf("%q %v\n", out, err)
	cmd := exec.Command("sh", "-c", "echo $WORD; echo oops >&2")
	cmd.Env = append(os.Environ(), "WORD=set")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err = cmd.Output()
	fmt.Printf("%q %q %v\n", out, stderr.String(), err)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	fmt.Println(exec.CommandContext(ctx, "sleep", "100").Run())
	_, err = exec.LookPath("no-such-program")
	fmt.Println(errors.Is(err, exec.ErrNotFound))
	a, b := exec.Command("echo", "through a pipe"), exec.Command("cat")
	b.Stdin, err = a.StdoutPipe()
	fmt.Println(err)
	fmt.Println(a.Start())
	out, err = b.Output()
	fmt.Printf("%q %v %v\n", out, err, a.Wait())
}
