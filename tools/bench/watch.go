package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne/tools/child"
)

// watchSpec watches one server that runs already: its lines and ends, and the positions of its
// connections. By calls, each command is exposed by a function, too.
const watchSpec = `
nodes: [{name: server}]
expose:
  failed: {line: 'panic'}
%s
properties: {nothing fails: {never: %s}}
watch: {each_message: %v, %snodes: {server: {pid: %d, before: nothing, log: %s}}}
`

// watchWay is what a watch sees of a server in a round of measurements; "": there is none.
type watchWay string

// The ways: lines and the positions of connections, each message besides, and a call for each
// command besides lines, with each message or not, or 1,000 calls a second at most, or the probes
// taken out after 1,000 calls in a second; and a variable that is read each 10 ms besides lines.
const (
	byLines         watchWay = "lines"
	byMessages      watchWay = "messages"
	byCalls         watchWay = "calls"
	byCallsMessages watchWay = "calls_messages"
	bySomeCalls     watchWay = "calls_1000"
	byPausedCalls   watchWay = "calls_paused"
	byVariable      watchWay = "variable"
)

func (w watchWay) calls() bool {
	return w == byCalls || w == byCallsMessages || w == bySomeCalls || w == byPausedCalls
}

func (w watchWay) messages() bool { return w == byMessages || w == byCallsMessages }

// fields are further fields of the section watch.
func (w watchWay) fields() string {
	switch w {
	case bySomeCalls:
		return "max_calls: 1000, "
	case byPausedCalls:
		return "max_calls: 1000, pause_probes: true, "
	case byVariable:
		return "poll: 10ms, "
	}
	return ""
}

// watchedRound is how long a server is under load in one measurement.
const watchedRound = 3 * time.Second

// measureWatch measures what a watch costs a server of etcd that is under load: of its processor
// time for each write, and of the writes in a second. Rounds without a watch, and with one in each
// way, take turns. The watch itself takes a share of one processor.
func (b *bench) measureWatch() error {
	if os.Getuid() != 0 {
		b.missing = append(b.missing, "watch_overhead: probes need root")
		return nil
	}
	if !b.fetch("examples/etcd/etcd-3.5.yaml") {
		return nil
	}
	s, err := b.serveEtcd()
	if err != nil {
		return err
	}
	defer s.stop()
	ways := []watchWay{byLines, byMessages, byVariable, bySomeCalls, byPausedCalls, byCalls, byCallsMessages}
	overhead, slower, own := map[watchWay][]float64{}, map[watchWay][]float64{}, map[watchWay][]float64{}
	for range max(b.repeat, 3) {
		alone, err := b.loadWatched(s, "", 0)
		if err != nil {
			return err
		}
		for _, way := range ways {
			watched, err := b.loadWatched(s, way, 0)
			if err != nil {
				return err
			}
			overhead[way] = append(overhead[way], watched[0].perWrite/alone[0].perWrite-1)
			slower[way] = append(slower[way], 1-watched[0].writes/alone[0].writes)
			own[way] = append(own[way], watched[0].watch)
		}
	}
	for _, way := range ways {
		b.keep("watch_overhead."+string(way), "", overhead[way])
		b.keep("watch_slower."+string(way), "", slower[way])
		b.keep("watch_processor."+string(way), "", own[way])
	}
	return nil
}

// served is a server that runs.
type served struct {
	cmd       *exec.Cmd
	dir, addr string
	call      string                         // exposes a call of a function for each write
	clients   int                            // how many write at the same time
	dial      func(*served) (*writer, error) // begins a client
}

// writer writes to a server, and waits for each answer.
type writer struct {
	write func() error
	close func() error
}

// serveEtcd starts a server on a port of the loopback interface.
func (b *bench) serveEtcd() (*served, error) {
	dir, err := os.MkdirTemp("", "bench-watch-")
	if err != nil {
		return nil, err
	}
	s := &served{dir: dir, addr: "http://127.0.0.1:23791", clients: 16, dial: dialEtcd,
		call: "{function: 'etcdserver.(*EtcdServer).Put', fields: {lease: r.Lease}}"}
	s.cmd = child.Command(b.ctx, "examples/etcd/bin/etcd", "--data-dir", filepath.Join(dir, "data"),
		"--unsafe-no-fsync",
		"--listen-client-urls", s.addr, "--advertise-client-urls", s.addr,
		"--listen-peer-urls", "http://127.0.0.1:23801", "--initial-advertise-peer-urls", "http://127.0.0.1:23801",
		"--initial-cluster", "default=http://127.0.0.1:23801")
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	return s, s.serves()
}

// serves returns when the server answers.
func (s *served) serves() (err error) {
	for range 100 {
		var c *writer
		if c, err = s.dial(s); err == nil {
			err = c.write()
			if err = errors.Join(err, c.close()); err == nil {
				return nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.stop()
	return fmt.Errorf("%s did not begin to serve within 10 s: %w", s.cmd.Path, err)
}

func (s *served) stop() {
	_ = s.cmd.Process.Kill() // it may have ended
	_ = s.cmd.Wait()
	os.RemoveAll(s.dir)
}

// dialEtcd begins a client with a connection of its own.
func dialEtcd(s *served) (*writer, error) {
	c := http.Client{Transport: &http.Transport{}}
	return &writer{
		write: func() error {
			r, err := c.Post(s.addr+"/v3/kv/put", "application/json",
				strings.NewReader(`{"key":"a2V5","value":"dmFsdWU="}`))
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, r.Body)
			if err := errors.Join(err, r.Body.Close()); err != nil {
				return err
			}
			if r.StatusCode != http.StatusOK {
				return fmt.Errorf("etcd answers %s", r.Status)
			}
			return nil
		},
		close: func() error {
			c.CloseIdleConnections()
			return nil
		},
	}, nil
}

// watchedLoad is what a round came to.
type watchedLoad struct {
	count    int
	writes   float64 // in a second
	perWrite float64 // seconds of the server's processor time
	watch    float64 // processor time of the watch in a second
}

// loadWatched puts the server under load at each of some rates, watched in some way. Rate 0: as
// much as it takes.
func (b *bench) loadWatched(s *served, way watchWay, rates ...int) (all []watchedLoad, err error) {
	pids := []int{s.cmd.Process.Pid}
	if way != "" {
		var out bytes.Buffer
		watch, wrong := b.beginWatch(s, way, &out)
		if wrong != nil {
			return nil, wrong
		}
		defer func() {
			writes := 0
			for _, l := range all {
				writes += l.count
			}
			err = errors.Join(err, endWatch(watch, way, &out, writes))
		}()
		pids = append(pids, watch.Process.Pid)
	}
	for _, rate := range rates {
		before, err := processorTimes(pids)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		n, err := s.load(rate, watchedRound)
		if err != nil {
			return nil, err
		}
		took := time.Since(began).Seconds()
		after, err := processorTimes(pids)
		if err != nil {
			return nil, err
		}
		l := watchedLoad{count: n, writes: float64(n) / took, perWrite: (after[0] - before[0]).Seconds() / float64(n)}
		if way != "" {
			l.watch = (after[1] - before[1]).Seconds() / took
		}
		all = append(all, l)
	}
	return all, nil
}

// beginWatch begins to watch the server, and returns when the watch is there.
func (b *bench) beginWatch(s *served, way watchWay, out *bytes.Buffer) (*exec.Cmd, error) {
	expose, never := "", "len(failed) > 0"
	if way.calls() {
		expose, never = "  put: "+s.call, "len(failed) > 0 and len(put) > 0"
	}
	if way == byVariable {
		expose = "  collections: {variable: runtime.work.cycles.value}"
		never = "len(failed) > 0 and len(collections) > 0"
	}
	path := filepath.Join(s.dir, string(way)+".yaml")
	text := fmt.Sprintf(watchSpec, expose, never, way.messages(), way.fields(), s.cmd.Process.Pid,
		filepath.Join(s.dir, "log"))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return nil, err
	}
	watch := b.command(b.ariadne.Binary, "watch", path, "--json", "--quiet")
	begun := &firstLine{to: out, came: make(chan struct{})}
	watch.Stdout, watch.Stderr = begun, os.Stderr
	if err := watch.Start(); err != nil {
		return nil, err
	}
	select {
	case <-begun.came:
		return watch, nil
	case <-time.After(time.Minute):
		return nil, errors.Join(errors.New("the watch did not begin within a minute"), watch.Process.Kill())
	}
}

// firstLine says when the first bytes come.
type firstLine struct {
	to   io.Writer
	once sync.Once
	came chan struct{}
}

func (f *firstLine) Write(p []byte) (int, error) {
	f.once.Do(func() { close(f.came) })
	return f.to.Write(p)
}

// endWatch ends a watch, and sees that it has seen the writes.
func endWatch(watch *exec.Cmd, way watchWay, out *bytes.Buffer, writes int) error {
	if err := watch.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	_ = watch.Wait() // its outcome is in its report
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var r struct {
		Event      string
		Outcome    string
		Doubts     []string
		Properties []struct{ Events int }
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil || r.Event != "report" {
		return fmt.Errorf("the watch has no report: %v", err)
	}
	if way == bySomeCalls || way == byPausedCalls { // others are unknown
		r.Doubts, writes = nil, 1
	}
	if len(r.Doubts) > 0 || way.calls() && r.Properties[0].Events < writes {
		return fmt.Errorf("the watch has seen %d events of %d writes: %q", r.Properties[0].Events, writes, r.Doubts)
	}
	return nil
}

// load has the clients write for some time at a rate, each after the answer to its last one. Rate
// 0: as fast as they are answered.
func (s *served) load(rate int, d time.Duration) (writes int, err error) {
	began := time.Now()
	var wg sync.WaitGroup
	counts, wrong := make([]int, s.clients), make([]error, s.clients)
	for i := range s.clients {
		wg.Go(func() {
			c, err := s.dial(s)
			if err != nil {
				wrong[i] = err
				return
			}
			for next := i; time.Since(began) < d && err == nil; next += s.clients {
				if rate > 0 {
					time.Sleep(time.Until(began.Add(time.Duration(next) * time.Second / time.Duration(rate))))
				}
				err = c.write()
				counts[i]++
			}
			wrong[i] = errors.Join(err, c.close())
		})
	}
	wg.Wait()
	for _, n := range counts {
		writes += n
	}
	return writes, errors.Join(wrong...)
}

// processorTimes are those of some processes.
func processorTimes(pids []int) (all []time.Duration, err error) {
	for _, pid := range pids {
		t, err := processorTime(pid)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// processorTime is how much the threads of a process have taken so far.
func processorTime(pid int) (all time.Duration, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has ended
		}
		first, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, err
		}
		all += time.Duration(ns)
	}
	return all, nil
}
