//go:build linux && amd64

package probe

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo"
	"github.com/ariadne-mc/ariadne/internal/system/native"

	"github.com/cilium/ebpf"

	"golang.org/x/sys/unix"
)

// open returns what looks into programs, and skips the test where that is not permitted.
func open(t testing.TB) *Kernel {
	t.Helper()
	if text, _ := Check(); text != "" {
		t.Skip(text)
	}
	k, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// followSockets has the kernel list sockets, or skips the test where it refuses that.
func followSockets(t testing.TB, k *Kernel) {
	t.Helper()
	switch err := k.FollowSockets(); {
	case errors.Is(err, ErrNoSockets):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
}

// program is what the tests look into: text, numbers behind pointers, and nothing behind a pointer.
const program = `
package main

import ("fmt"; "os"; "bufio"; "strings"; "strconv"; "syscall"; "runtime")

type inner struct { pad [40]int; term uint64; name string }
type server struct { id int32; next *inner; none *inner }

var sink int

// cpu is the processor time of the thread in ns.
func cpu() int64 {
	var u syscall.Rusage
	syscall.Getrusage(1, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

//go:noinline
func add(n int) { sink += n }

//go:noinline
func (s *server) count(n int) { add(n) }

//go:noinline
func (s *server) lead(why string, n int) { fmt.Fprintln(os.Stderr, s.id, why, n) }

func main() {
	s := &server{id: -7, next: &inner{term: 1 << 40, name: "second of three"}}
	r := bufio.NewScanner(os.Stdin)
	fmt.Println("ready")
	for n := 0; r.Scan(); n++ {
		if n, ok := strings.CutPrefix(r.Text(), "loop "); ok {
			many, _ := strconv.Atoi(n)
			runtime.LockOSThread()
			began := cpu()
			for i := range many { s.count(i) }
			fmt.Println(cpu() - began)
			continue
		}
		s.next.term++
		s.lead(r.Text(), n)
		fmt.Println("called")
	}
}
`

// built is the path of the program, or "".
var built string

func TestMain(m *testing.M) {
	status := m.Run()
	if built != "" {
		os.RemoveAll(filepath.Dir(built))
	}
	os.Exit(status)
}

// build compiles the program, once.
func build(t testing.TB) string {
	t.Helper()
	if built != "" {
		return built
	}
	dir, err := os.MkdirTemp("", "probe")
	if err != nil {
		t.Fatal(err)
	}
	src, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(src, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", out, src)
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GO111MODULE=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	built = out
	return out
}

// talker is a program that runs, and answers each line.
type talker struct {
	*exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	killed bool
}

func start(t testing.TB, path string) *talker {
	t.Helper()
	cmd := exec.Command(path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &talker{Cmd: cmd, in: in, out: bufio.NewScanner(out)}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); (err != nil) != r.killed {
			t.Error(err)
		}
	})
	r.out.Scan()
	return r
}

func (r *talker) call(text string) {
	fmt.Fprintln(r.in, text)
	r.out.Scan()
}

var leads = []debuginfo.Query{{Function: "main.(*server).lead",
	Values: []string{"s.id", "s.next.term", "s.next.name", "why", "n"}}}

// calls are those that have come.
func calls(t *testing.T, k *Kernel) (all []Call) {
	t.Helper()
	complete, err := k.Calls(func(c Call) { all = append(all, c) })
	if err != nil || !complete {
		t.Fatal(complete, err)
	}
	return all
}

// probe sets probes at functions of a program, and returns which of them it has.
func probe(k *Kernel, path string, queries []debuginfo.Query) (has []int, err error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	asked := slices.Clone(queries)
	for i := range asked {
		asked[i].Emulated = true
	}
	sites, err := debuginfo.Sites(f, asked)
	if err != nil {
		return nil, err
	}
	for _, s := range sites {
		if !slices.Contains(has, s.Query) {
			has = append(has, s.Query)
		}
	}
	_, err = k.Probe(path, f, sites, queries)
	return has, err
}

// TestCalls: values of parameters come as they were at the call: numbers, texts, also behind
// pointers; of programs that run already; and nothing comes of processes that are no node's.
func TestCalls(t *testing.T) {
	k := open(t)
	path := build(t)
	own, other := start(t, path), start(t, path)
	if err := k.Follow(3, own.Process.Pid); err != nil {
		t.Fatal(err)
	}
	has, err := probe(k, path, append([]debuginfo.Query{{Function: "main.missing"}}, leads...))
	if err != nil || !slices.Equal(has, []int{1}) {
		t.Fatal(has, err)
	}
	before := native.Now()
	own.call("the reason")
	other.call("of another process")
	own.call("")
	all := calls(t, k)
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	for i, want := range [][]string{
		{"-7", "1099511627777", "second of three", "the reason", "0"},
		{"-7", "1099511627778", "second of three", "", "1"},
	} {
		c := all[i]
		if !slices.Equal(c.Values, want) || c.Node != 3 || c.Query != 1 || c.Missing || c.At < before ||
			c.At > native.Now() {
			t.Errorf("%+v, want %q", c, want)
		}
	}
}

// TestWakesNobody: a call wakes nobody, since that would cost the program that calls; it waits to
// be told of.
func TestWakesNobody(t *testing.T) {
	k := open(t)
	path := build(t)
	own := start(t, path)
	if err := k.Follow(0, own.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if k.Waiting() {
		t.Error("a call waits, and there are no probes")
	}
	if _, err := probe(k, path, leads); err != nil {
		t.Fatal(err)
	}
	poll, err := unix.EpollCreate1(0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(poll)
	if err := unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, k.ring.FD(),
		&unix.EpollEvent{Events: unix.EPOLLIN}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if k.Waiting() {
			t.Error("a call waits, and there was none")
		}
		own.call("first")
		if !k.Waiting() {
			t.Error("no call waits, and there was one")
		}
		var events [1]unix.EpollEvent
		n, err := unix.EpollWait(poll, events[:], 20)
		if n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
			t.Errorf("somebody is woken (%v)", err)
		}
		if all := calls(t, k); len(all) != 1 {
			t.Errorf("%d calls have come, 1 was made", len(all))
		}
	}
}

// TestDropped: calls for which there is no room are counted.
func TestDropped(t *testing.T) {
	k := open(t)
	was := ringSize
	ringSize = 1 << 16
	defer func() { ringSize = was }()
	path := build(t)
	own := start(t, path)
	if err := k.Follow(0, own.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if _, err := probe(k, path, leads); err != nil {
		t.Fatal(err)
	}
	many := int(ringSize) / 200 // each takes more than 300 bytes
	for range many {
		own.call("x")
	}
	got := len(calls(t, k))
	dropped, err := k.Dropped(0)
	if err != nil || dropped.Calls == 0 || got+int(dropped.Calls) != many {
		t.Errorf("%d calls, %d came, %d were dropped: %v", many, got, dropped.Calls, err)
	}
}

// TestMaxCalls: of more calls than are wanted in a window, the first ones come and the others are
// counted. Calls of another node do not count.
func TestMaxCalls(t *testing.T) {
	k := open(t)
	k.MaxCalls = 50
	path := build(t)
	own, other := start(t, path), start(t, path)
	if err := errors.Join(k.Follow(0, own.Process.Pid), k.Follow(1, other.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	if _, err := probe(k, path, leads); err != nil {
		t.Fatal(err)
	}
	const many = 2000
	began := time.Now()
	for range many {
		own.call("x")
	}
	windows := int(time.Since(began)/time.Duration(window)) + 2
	other.call("y")
	got := [2]int{}
	for _, c := range calls(t, k) {
		got[c.Node]++
	}
	dropped, err := k.Dropped(0)
	if err != nil || got[0]+int(dropped.Calls) != many || got[0] < 5 || got[0] > 5*windows {
		t.Errorf("%d calls in %d windows, %d came, %d were dropped: %v", many, windows, got[0], dropped.Calls, err)
	}
	if got[1] != 1 {
		t.Errorf("%d calls of the other node came", got[1])
	}
}

// TestPause: calls are not seen while probes are out, and all others are.
func TestPause(t *testing.T) {
	k := open(t)
	if err := errors.Join(k.Pause(), k.Resume()); err != nil {
		t.Fatal(err)
	}
	path := build(t)
	own := start(t, path)
	if err := k.Follow(0, own.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if _, err := probe(k, path, leads); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	defer os.Rename(path+".old", path)
	for range 3 {
		own.call("first")
		if err := k.Pause(); err != nil {
			t.Fatal(err)
		}
		own.call("second")
		if err := k.Resume(); err != nil {
			t.Fatal(err)
		}
		own.call("third")
		if all := calls(t, k); len(all) != 2 {
			t.Errorf("%d calls have come, 2 were made with probes", len(all))
		}
	}
	if err := k.Pause(); err != nil { // and it can be closed so
		t.Fatal(err)
	}
}

// BenchmarkPause takes probes out and sets them again.
func BenchmarkPause(b *testing.B) {
	k := open(b)
	path := build(b)
	own := start(b, path)
	if err := k.Follow(0, own.Process.Pid); err != nil {
		b.Fatal(err)
	}
	if _, err := probe(k, path, leads); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := errors.Join(k.Pause(), k.Resume()); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSockets: both ends of a connection agree on how far its streams are, whoever was first.
func TestSockets(t *testing.T) {
	k := open(t)
	if err := k.Follow(5, os.Getpid()); err != nil {
		t.Fatal(err)
	}
	a, b := connection(t)
	// Before anybody looks.
	exchange(t, a, b, 1000, 1000)
	followSockets(t, k)
	exchange(t, a, b, 500, 200)
	exchange(t, b, a, 1, 1)
	var ends [2]*Socket
	all, err := k.Sockets()
	for i := range all {
		for end, c := range []net.Conn{a, b} {
			if all[i].Local.String() == c.LocalAddr().String() && all[i].Remote.String() == c.RemoteAddr().String() {
				ends[end] = &all[i]
			}
		}
	}
	if err != nil || ends[0] == nil || ends[1] == nil {
		t.Fatal(all, err)
	}
	if unread := ends[0].Written - ends[1].Read; unread != 300 {
		t.Errorf("%d bytes are under way, want 300", unread)
	}
	if unread := ends[1].Written - ends[0].Read; unread != 0 {
		t.Errorf("%d bytes are under way back, want none", unread)
	}
	if ends[0].Node != 5 {
		t.Errorf("node %d", ends[0].Node)
	}
}

// TestMessages: each write to a connection, and each read from it, is told of with its time and the
// position of its stream, which both ends count alike.
func TestMessages(t *testing.T) {
	k := open(t)
	if err := k.Follow(5, os.Getpid()); err != nil {
		t.Fatal(err)
	}
	var all []Message
	if err := k.FollowMessages(func(m Message) { all = append(all, m) }); err != nil {
		t.Fatal(err)
	}
	a, b := connection(t)
	var times []ariadne.Time
	for range 3 {
		exchange(t, a, b, 500, 500)
		times = append(times, native.Now())
	}
	exchange(t, b, a, 7, 7)
	if complete, err := k.Calls(func(Call) { t.Error("a call") }); !complete || err != nil {
		t.Fatal(complete, err)
	}
	ofA, ofB := a.LocalAddr().String(), b.LocalAddr().String()
	var written, read []uint32
	for _, m := range all {
		if m.Node != 5 {
			t.Errorf("node %d", m.Node)
		}
		switch local, remote := m.Local.String(), m.Remote.String(); {
		case local == ofA && remote == ofB && m.Writes:
			at := native.FromKernel(m.At)
			if i := len(written); i > 0 && i < len(times) && (at <= times[i-1] || at >= times[i]) {
				t.Errorf("write %d was at %v, which is not from %v to %v", i, at, times[i-1], times[i])
			}
			written = append(written, m.Position)
		case local == ofB && remote == ofA && !m.Writes:
			if len(read) == 0 || read[len(read)-1] != m.Position {
				read = append(read, m.Position)
			}
		}
	}
	if len(written) != 3 || len(read) != 3 {
		t.Fatalf("written %v, read %v", written, read)
	}
	for i := range written {
		if read[i]-written[i] != 500 || i > 0 && written[i] != read[i-1] {
			t.Errorf("write %d from %d on, read up to %d", i, written[i], read[i])
		}
	}
}

func exchange(t testing.TB, from, to net.Conn, write, read int) {
	t.Helper()
	if _, err := from.Write(make([]byte, write)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(to, make([]byte, read)); err != nil {
		t.Fatal(err)
	}
}

// loaded is how many BPF programs the kernel has.
func loaded(t *testing.T) (n int) {
	t.Helper()
	for id, err := ebpf.ProgramGetNextID(0); ; id, err = ebpf.ProgramGetNextID(id) {
		if errors.Is(err, os.ErrNotExist) {
			return n
		} else if err != nil {
			t.Fatal(err)
		}
		n++
	}
}

// settled waits until there are as many BPF programs as before: the kernel frees them a little
// later.
func settled(t *testing.T, before int) {
	t.Helper()
	for range 100 {
		if loaded(t) <= before {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%d BPF programs are there, and there were %d", loaded(t), before)
}

// TestAttachAndDetach: attaching to a program that is busy, again and again, leaves nothing, and
// the program goes on.
func TestAttachAndDetach(t *testing.T) {
	k := open(t)
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	before := loaded(t)
	path := build(t)
	own := start(t, path)
	times := 4
	if os.Getenv("ARIADNE_LONG") != "" {
		times = 200
	}
	for i := range times {
		k, err := Open()
		if err != nil {
			t.Fatal(err)
		}
		_, err = probe(k, path, leads)
		if err := k.FollowSockets(); err != nil && (!errors.Is(err, ErrNoSockets) || k.FollowsSockets()) {
			t.Fatal(err)
		}
		err = errors.Join(err, k.Follow(0, own.Process.Pid))
		own.call(fmt.Sprint(i))
		if all := calls(t, k); err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		own.call("alone")
	}
	settled(t, before)
}

// TestKilledLeavesNothing: when the process that has set probes is killed, they are gone.
func TestKilledLeavesNothing(t *testing.T) {
	if path := os.Getenv("ARIADNE_PROBES_TO_SET"); path != "" {
		k, err := Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err = probe(k, path, leads); err != nil {
			t.Fatal(err)
		}
		fmt.Println("set")
		select {}
	}
	k := open(t)
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	before := loaded(t)
	path := build(t)
	cmd := exec.Command("/proc/self/exe", "-test.run=TestKilledLeavesNothing")
	cmd.Env = append(os.Environ(), "ARIADNE_PROBES_TO_SET="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewScanner(out)
	for r.Scan() && r.Text() != "set" {
		t.Log(r.Text())
	}
	if n := loaded(t); n <= before {
		t.Errorf("%d programs with probes, %d without", n, before)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	settled(t, before)
}

// BenchmarkCall is what a call of a function takes of processor time with a probe at it: of a
// node, and of a process that is none. Without a probe it is about 1 ns.
func BenchmarkCall(b *testing.B) {
	for _, followed := range []bool{true, false} {
		b.Run(map[bool]string{true: "node", false: "other"}[followed], func(b *testing.B) {
			k := open(b)
			path := build(b)
			own := start(b, path)
			if followed {
				if err := k.Follow(0, own.Process.Pid); err != nil {
					b.Fatal(err)
				}
			}
			if _, err := probe(k, path, []debuginfo.Query{{Function: "main.(*server).count",
				Values: []string{"s.id", "s.next.term", "n"}}}); err != nil {
				b.Fatal(err)
			}
			stop := make(chan struct{})
			done := make(chan struct{})
			go func() { // somebody reads
				defer close(done)
				for {
					select {
					case <-stop:
						return
					case <-time.After(time.Millisecond):
						if _, err := k.Calls(func(Call) {}); err != nil {
							b.Error(err)
						}
					}
				}
			}()
			own.call(fmt.Sprintf("loop %d", b.N))
			close(stop)
			<-done
			ns, err := strconv.Atoi(own.out.Text())
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(ns)/float64(b.N), "ns/call")
		})
	}
}

// BenchmarkMessage is what it takes to send a byte over a connection and to read it, with and
// without marks of sockets.
func BenchmarkMessage(b *testing.B) {
	for _, marked := range []bool{false, true} {
		b.Run(map[bool]string{true: "marked", false: "alone"}[marked], func(b *testing.B) {
			if marked {
				k := open(b)
				if err := k.Follow(0, os.Getpid()); err != nil {
					b.Fatal(err)
				}
				followSockets(b, k)
			}
			from, to := connection(b)
			for b.Loop() {
				exchange(b, from, to, 1, 1)
			}
		})
	}
}

// BenchmarkSockets is what it takes to read the positions of 100 connections.
func BenchmarkSockets(b *testing.B) {
	k := open(b)
	if err := k.Follow(0, os.Getpid()); err != nil {
		b.Fatal(err)
	}
	followSockets(b, k)
	for range 100 {
		from, to := connection(b)
		exchange(b, from, to, 1, 1)
	}
	for b.Loop() {
		if all, err := k.Sockets(); err != nil || len(all) < 200 {
			b.Fatal(len(all), err)
		}
	}
}

// connection returns both ends of one.
func connection(t testing.TB) (a, b net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.Close()
		b.Close()
	})
	return a, b
}

// TestProbesAreCheap: a probe is at an instruction that the kernel executes itself.
func TestProbesAreCheap(t *testing.T) {
	f, err := elf.Open(build(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sites, err := debuginfo.Sites(f, []debuginfo.Query{{Function: "main.(*server).lead", Emulated: true,
		Values: []string{"s.id", "why", "n"}}})
	if err != nil || len(sites) != 1 {
		t.Fatal(sites, err)
	}
	offset, ok := fileOffset(f, sites[0].Addr)
	if !ok {
		t.Fatal(err)
	}
	text, err := os.ReadFile(build(t))
	if err != nil || text[offset] != 0x55 {
		t.Errorf("the probe is at the instruction % x, %v: want a push", text[offset:offset+4], err)
	}
}
