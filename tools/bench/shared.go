package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne/tools/child"
)

// sharedSpec watches two programs that do nothing, by files with their lines. The bench writes
// these.
const sharedSpec = `
name: shared
nodes: [{name: n1}, {name: n2}]
expose: {value: {line: '^(?P<k>\w+) is (?P<v>\d+)$', key: k}}
properties: {p1: {agree: value}, p2: {agree: value}, p3: {agree: value}}
watch:
  parts: %d
  nodes: {n1: {pid: %d, before: nothing, log: n1.log}, n2: {pid: %d, before: nothing, log: n2.log}}
`

// sharedWatch is a watch with a log: a process with the log's server, an agent of two nodes, and
// the files that these write.
type sharedWatch struct {
	bench    *bench
	dir      string
	at       string // URL of the log
	metrics  string // URL
	watch    *exec.Cmd
	children []*exec.Cmd
	logs     [2]*os.File

	mu     sync.Mutex
	found  map[string][]string // by property: the violations, without its name
	report []byte
	more   chan struct{} // has a value after each violation
	over   chan struct{} // is closed when the watch has ended
}

// beginShared begins a watch whose properties are in parts.
func (b *bench) beginShared(parts int) (s *sharedWatch, err error) {
	s = &sharedWatch{bench: b, found: map[string][]string{}, more: make(chan struct{}, 1000),
		over: make(chan struct{})}
	if s.dir, err = os.MkdirTemp("", "bench-shared-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	var pids []any
	for i := range s.logs {
		if s.logs[i], err = os.Create(filepath.Join(s.dir, fmt.Sprintf("n%d.log", i+1))); err != nil {
			return nil, err
		}
		node := child.Command(b.ctx, "sleep", "3600")
		if err := node.Start(); err != nil {
			return nil, err
		}
		s.children = append(s.children, node)
		pids = append(pids, node.Process.Pid)
	}
	text := fmt.Sprintf(sharedSpec, append([]any{parts}, pids...)...)
	if err := os.WriteFile(s.spec(), []byte(text), 0o644); err != nil {
		return nil, err
	}
	s.watch = b.command(b.ariadne.Binary, "watch", s.spec(), "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0",
		"--json", "--quiet")
	out, err := s.watch.StdoutPipe()
	if err != nil {
		return nil, err
	}
	says, err := s.watch.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.watch.Start(); err != nil {
		return nil, err
	}
	go s.follow(out)
	lines := bufio.NewScanner(says)
	for (s.at == "" || s.metrics == "") && lines.Scan() {
		if m := metricsAt.FindStringSubmatch(lines.Text()); m != nil {
			s.metrics = m[1]
		}
		if m := logAt.FindStringSubmatch(lines.Text()); m != nil {
			s.at = m[1]
		}
	}
	go func() { _, _ = io.Copy(os.Stderr, says) }() // it ends with the watch
	if s.at == "" {
		return nil, errors.New("the watch has not said where its log is")
	}
	agent := b.command(b.ariadne.Binary, "agent", s.spec(), "--log", s.at, "--node", "n1", "--node", "n2")
	begun := &firstLine{to: io.Discard, came: make(chan struct{})}
	agent.Stdout, agent.Stderr = begun, os.Stderr
	if err := agent.Start(); err != nil {
		return nil, err
	}
	s.children = append(s.children, agent)
	select {
	case <-begun.came:
		return s, nil
	case <-time.After(time.Minute):
		return nil, errors.New("the agent did not begin within a minute")
	}
}

var (
	metricsAt = regexp.MustCompile(`metrics at (\S+)$`)
	logAt     = regexp.MustCompile(`the log of watch \S+ is at (\S+):`)
)

func (s *sharedWatch) spec() string { return filepath.Join(s.dir, "spec.yaml") }

// join begins another process that judges.
func (s *sharedWatch) join() (*exec.Cmd, error) {
	c := s.bench.command(s.bench.ariadne.Binary, "watch", s.spec(), "--log", s.at, "--quiet")
	c.Stdout, c.Stderr = io.Discard, os.Stderr
	return c, c.Start()
}

// follow keeps what the watch finds and reports.
func (s *sharedWatch) follow(out io.Reader) {
	defer close(s.over)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e struct {
			Event, Property, Message string
			At                       int64 `json:"at_ns"`
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			continue // the report says that something is missing
		}
		s.mu.Lock()
		switch e.Event {
		case "violation":
			s.found[e.Property] = append(s.found[e.Property],
				fmt.Sprint(strings.TrimPrefix(e.Message, e.Property), e.At))
			s.more <- struct{}{}
		case "report":
			s.report = []byte(lines.Text())
		}
		s.mu.Unlock()
	}
}

// show has a node write lines.
func (s *sharedWatch) show(node int, format string, args ...any) error {
	_, err := fmt.Fprintf(s.logs[node], format, args...)
	return err
}

// showTuples has both nodes show tuples of ten keys each, at a rate in a second. No two nodes show
// the same key.
func (s *sharedWatch) showTuples(n, rate int) error {
	const each = 10 * time.Millisecond
	tick := time.NewTicker(each)
	defer tick.Stop()
	for i := 0; i < n; {
		for range max(1, rate*int(each)/int(time.Second)) {
			if err := s.show(i%2, "n%dk%d is %d\n", i%2+1, i/2%10, i); err != nil {
				return err
			}
			i++
		}
		<-tick.C
	}
	return nil
}

// disagree breaks the properties for a moment.
func (s *sharedWatch) disagree(value int) error {
	err := errors.Join(s.show(0, "m is 0\n"), s.show(1, "m is %d\n", value))
	time.Sleep(time.Second) // on a loaded machine the agent may look rarely
	return errors.Join(err, s.show(1, "m is 0\n"))
}

// awaitFound waits until each property has n violations.
func (s *sharedWatch) awaitFound(n int) error {
	late := time.After(time.Minute)
	for {
		s.mu.Lock()
		least := n
		for _, p := range []string{"p1", "p2", "p3"} {
			least = min(least, len(s.found[p]))
		}
		s.mu.Unlock()
		if least == n {
			return nil
		}
		select {
		case <-s.more:
		case <-s.over:
			return errors.New("the watch has ended")
		case <-late:
			return fmt.Errorf("%d violations of each property were not found within a minute: p1 has %d, p2 %d, p3 %d", n, len(s.found["p1"]),
				len(s.found["p2"]), len(s.found["p3"]))
		}
	}
}

// sharedReport is what the watch says at its end.
type sharedReport struct {
	Doubts     []string
	TakenOver  int              `json:"taken_over"`
	Properties []map[string]any // all that it says of each
}

// end ends the watch.
func (s *sharedWatch) end() (*sharedReport, error) {
	if err := s.watch.Process.Signal(os.Interrupt); err != nil {
		return nil, err
	}
	<-s.over
	_ = s.watch.Wait() // its outcome is in its report
	var r sharedReport
	if err := json.Unmarshal(s.report, &r); err != nil {
		return nil, fmt.Errorf("the watch has no report: %w", err)
	}
	return &r, nil
}

// stop ends what still runs.
func (s *sharedWatch) stop() {
	for _, c := range append(s.children, s.watch) {
		if c != nil && c.Process != nil && c.ProcessState == nil {
			_ = c.Process.Kill() // it may have ended
			_ = c.Wait()
		}
	}
	for _, f := range s.logs {
		if f != nil {
			f.Close()
		}
	}
	os.RemoveAll(s.dir)
}

// count reads a metric of one property.
func (s *sharedWatch) count(metric string) (float64, error) {
	answer, err := http.Get(s.metrics)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), `ariadne_watch_`+metric+`{property="p1"} `); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("the watch has no metric %s", metric)
}

// measureParts measures how much a part of a property reads of the log: nodes show 5,000 tuples in
// 5 s, and then nothing.
func (b *bench) measureParts() error {
	for _, parts := range []int{1, 2, 4} {
		var messages, bytes []float64
		for range b.repeat {
			b.progress.now(fmt.Sprintf("a watch in %d parts", parts))
			m, n, err := b.readByPart(parts)
			if err != nil {
				return err
			}
			messages, bytes = append(messages, m), append(bytes, n/1000)
		}
		b.keep(fmt.Sprintf("watch_part_messages.%d", parts), "", messages)
		b.keep(fmt.Sprintf("watch_part_kb.%d", parts), "kB", bytes)
	}
	return nil
}

func (b *bench) readByPart(parts int) (messages, bytes float64, err error) {
	s, err := b.beginShared(parts)
	if err != nil {
		return 0, 0, err
	}
	defer s.stop()
	if err := s.showTuples(5000, 1000); err != nil {
		return 0, 0, err
	}
	time.Sleep(2 * time.Second)
	messages, err = s.count("read_messages_total")
	if err != nil {
		return 0, 0, err
	}
	if bytes, err = s.count("read_bytes_total"); err != nil {
		return 0, 0, err
	}
	r, err := s.end()
	if err == nil && len(r.Doubts) > 0 {
		err = fmt.Errorf("a watch in %d parts: %q", parts, r.Doubts)
	}
	return messages / float64(parts), bytes / float64(parts), err
}

// measureTakeOver measures how long it takes until a violation is reported that happens when one of
// three processes that judge is killed, for logs of some length. The three properties say the same,
// and each process judges one. So the property of the killed process must have the verdicts of the
// others.
func (b *bench) measureTakeOver() error {
	for _, n := range []int{1000, 10_000, 100_000} {
		var took []float64
		for range min(b.repeat, 3) {
			b.progress.now(fmt.Sprintf("a verifier is killed after %d tuples", n))
			t, err := b.takeOver(n)
			if err != nil {
				return err
			}
			took = append(took, t.Seconds())
		}
		b.keep(fmt.Sprintf("watch_takeover.%d", n), "s", took)
	}
	return nil
}

func (b *bench) takeOver(n int) (took time.Duration, err error) {
	s, err := b.beginShared(1)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	for range 2 {
		c, err := s.join()
		if err != nil {
			return 0, err
		}
		s.children = append(s.children, c)
	}
	time.Sleep(5 * time.Second) // until each has a property
	if err := errors.Join(s.disagree(1), s.showTuples(n, max(500, n/50)), s.disagree(2), s.awaitFound(2)); err != nil {
		return 0, err
	}
	killed := s.children[len(s.children)-1]
	began := time.Now()
	if err := killed.Process.Kill(); err != nil {
		return 0, err
	}
	_ = killed.Wait()
	if err := errors.Join(s.disagree(3), s.awaitFound(3)); err != nil {
		return 0, err
	}
	took = time.Since(began)
	r, err := s.end()
	if err != nil {
		return 0, err
	}
	for i, p := range r.Properties {
		name := fmt.Sprint(p["name"])
		delete(p, "name")
		if text, first := fmt.Sprint(p, s.found[name]), fmt.Sprint(r.Properties[0], s.found["p1"]); i > 0 &&
			text != first {
			return 0, fmt.Errorf("two properties that say the same differ after a verifier was killed:\n%s\n%s", text, first)
		}
	}
	if len(r.Doubts) > 0 || len(r.Properties) != 3 {
		return 0, fmt.Errorf("a watch of %d properties: %q", len(r.Properties), r.Doubts)
	}
	return took, nil
}
