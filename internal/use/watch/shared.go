package watch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/watch/stream"
)

// Shared is where the log of a watch is that several processes share.
type Shared struct {
	// Listen is the address of a log server in this process, as in stream.Serve; "": there is none.
	Listen string
	// Store is where that server keeps its files; "": nothing stays.
	Store string
	// Log is the URL of a log server that is there, unless Listen says one.
	Log string
	// Name is that of the watch; "": that of the spec.
	Name string
}

// name is that of the watch of a spec.
func (o *Shared) name(s *spec.Spec) string {
	return cmp.Or(o.Name, s.Name, strings.TrimSuffix(filepath.Base(s.Path), filepath.Ext(s.Path)))
}

// Keys of what processes of a watch agree on.
const (
	keySpec   = "spec"
	keyEnded  = "ended"
	keyStatus = "status."
	keyAgents = "agents."
)

// agree sees that all processes have the same spec.
func agree(ctx context.Context, c *stream.Conn, s *spec.Spec) error {
	text, err := os.ReadFile(s.Path)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	own := hex.EncodeToString(sum[:8])
	is, err := c.Agree(ctx, keySpec, []byte(own))
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	if string(is) != own {
		return spec.Errors{{Path: s.Path, Text: fmt.Sprintf("the watch %s has another spec (%s, this one is %s): use the same file everywhere, or another --name", c.Name(), is, own)}}
	}
	return nil
}

// AgentOptions are how nodes of this machine are watched for verifiers elsewhere.
type AgentOptions struct {
	Shared
	// Nodes are the names of the nodes.
	Nodes []string
	// OnWait and OnBegin are as in Options.
	OnWait  func(text string)
	OnBegin func()
}

// RunAgent tells of nodes of this machine in the log of a watch, until ctx or the watch ends.
func RunAgent(ctx context.Context, s *spec.Spec, o AgentOptions) (err error) {
	own, names, err := ownNodes(s, o.Nodes)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c, err := stream.Connect(ctx, o.Log, o.name(s), o.OnWait)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Open(ctx, o.OnWait); err != nil {
		return err
	}
	if err := agree(ctx, c, s); err != nil {
		return err
	}
	leases := make([]*stream.Lease, len(own))
	for i, id := range own {
		if leases[i], err = holdNode(ctx, c, s.Nodes[id].Name, o.OnWait); err != nil {
			return err
		}
	}
	clock, err := c.NewClock(ctx, 0, o.OnWait)
	if err != nil {
		return err
	}
	w := c.NewWriter(clock, names)
	a, err := newAgent(s, w, own)
	if err != nil {
		return errors.Join(err, w.Close())
	}
	a.onWait, a.absolute, a.base = o.OnWait, true, 0
	for _, n := range a.nodes {
		first, err := c.Agree(ctx, keyAgents+stream.Token(n.def.Name), []byte(w.Session()))
		if err != nil {
			return errors.Join(err, a.close(), w.Close())
		}
		n.resumed = string(first) != w.Session()
	}
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		keep(ctx, cancel, c, clock, leases)
	}()
	err = a.attach(ctx)
	if err == nil {
		if o.OnBegin != nil {
			o.OnBegin()
		}
		err = a.run(ctx)
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) && !errors.Is(cause, errEnded) {
		err = errors.Join(err, cause)
	}
	for _, d := range a.doubts() {
		err = errors.Join(err, errors.New(d))
	}
	err = errors.Join(err, a.close(), w.Close())
	cancel(nil)
	<-kept
	last, stop := context.WithTimeout(context.Background(), 2*time.Second)
	defer stop()
	for _, l := range leases {
		_ = l.Release(last) // else it ends by itself
	}
	return err
}

// ownNodes are the ids of nodes by their names, and the names of all nodes.
func ownNodes(s *spec.Spec, nodes []string) (own []ariadne.NodeID, names []string, err error) {
	names = mapped(s.Nodes, func(n spec.Node) string { return n.Name })
	for _, name := range nodes {
		i := slices.Index(names, name)
		switch {
		case i < 0:
			return nil, nil,
				fmt.Errorf("%s: no node is called %q: --node takes one of %s", s.Path, name, strings.Join(names, ", "))
		case !s.Watch.Native[i].Found:
			return nil, nil, spec.Errors{{Path: s.Path, Line: s.Nodes[i].Line, Node: name,
				Text: "an agent needs to know how the node is found: say it under watch: nodes"}}
		case !slices.Contains(own, s.Nodes[i].ID):
			own = append(own, s.Nodes[i].ID)
		}
	}
	return own, names, nil
}

// holdNode takes the lease of a node. Only one agent tells of it.
func holdNode(ctx context.Context, c *stream.Conn, node string, onWait func(string)) (*stream.Lease, error) {
	for waits := false; ; waits = true {
		l, err := c.Hold(ctx, "node "+node)
		if l != nil || err != nil {
			return l, err
		}
		if !waits && onWait != nil {
			onWait(fmt.Sprintf("another agent watches node %s: waiting until it has ended", node))
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("another agent watches node %s", node)
		case <-time.After(stream.LeaseFor / 10):
		}
	}
}

// errEnded says that the watch has ended.
var errEnded = errors.New("the watch has ended")

// keep renews leases until ctx ends, and ends it with the watch, or when this agent was replaced.
func keep(ctx context.Context, cancel context.CancelCauseFunc, c *stream.Conn, k *stream.Clock,
	leases []*stream.Lease) {
	for ctx.Err() == nil {
		short, stop := context.WithTimeout(ctx, stream.LeaseFor/3)
		for _, l := range leases {
			if held, err := l.Renew(short); err == nil && !held {
				cancel(errors.New("another agent has taken over the nodes of this one, which was away for too long"))
			}
		}
		if ended, err := c.Get(short, keyEnded); err == nil && ended != nil {
			cancel(errEnded)
		}
		stop()
		if err := k.Err(); err != nil {
			cancel(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(stream.LeaseFor / 6):
		}
	}
}

// sharing is this process's part in a watch whose log several processes share.
type sharing struct {
	spec       *spec.Spec
	options    Options
	conn       *stream.Conn
	clock      *stream.Clock
	names      []string
	properties []*judge.Properties

	mu       sync.Mutex
	held     map[int]*holding // by property
	statuses []*Status        // of properties that others judge, as they told last
	report   Report
	lease    *stream.Lease // of being a verifier
	received int           // findings, of all processes
	life     context.Context
	die      func() // ends life: nothing waits for the server any more
	stop     context.CancelCauseFunc
}

// holding is a property that this process judges.
type holding struct {
	*verifying
	lease  *stream.Lease
	reader *stream.Reader
}

// watchShared judges what agents tell in a log. It ends the watch if it has the log's server.
func watchShared(ctx context.Context, s *spec.Spec, o Options) (r *Report, err error) {
	all, notes, err := judged(s)
	if err != nil {
		return nil, err
	}
	at := o.Shared.Log
	if o.Shared.Listen != "" {
		dir := o.Shared.Store
		if dir == "" {
			var remove func() error
			if dir, remove, err = native.TempDir(); err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, remove()) }()
		}
		server, own, err := stream.Serve(o.Shared.Listen, dir)
		if err != nil {
			return nil, err
		}
		defer func() {
			server.Shutdown()
			server.WaitForShutdown()
		}()
		at = own
	}
	began := native.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c, err := stream.Connect(ctx, at, o.Shared.name(s), o.OnWait)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.Create(ctx); err != nil {
		return nil, err
	}
	if ended, err := c.Get(ctx, keyEnded); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	} else if ended != nil { // a watch of this name was here before
		if err := errors.Join(c.Delete(ctx), c.Create(ctx)); err != nil {
			return nil, fmt.Errorf("log: %w", err)
		}
	}
	if err := agree(ctx, c, s); err != nil {
		return nil, err
	}
	w := &sharing{spec: s, options: o, conn: c, properties: all, held: map[int]*holding{},
		statuses: make([]*Status, len(all)), stop: cancel}
	w.life, w.die = context.WithCancel(context.Background())
	defer w.die()
	w.names = mapped(s.Nodes, func(n spec.Node) string { return n.Name })
	w.report.Notes = notes
	if w.clock, err = c.NewClock(ctx, 0, o.OnWait); err != nil {
		return nil, err
	}
	if o.OnLog != nil {
		o.OnLog(at, c.Name())
	}
	if err := w.run(ctx); err != nil {
		return nil, err
	}
	w.report.Elapsed = time.Duration(native.Now() - began)
	w.report.conclude(s)
	return &w.report, nil
}

// run judges until ctx ends, or the watch.
func (w *sharing) run(ctx context.Context) error {
	over, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var helpers sync.WaitGroup
	defer helpers.Wait()
	defer cancel()
	helpers.Go(func() {
		if err := w.conn.Findings(over, w.enter); err != nil {
			w.stop(fmt.Errorf("log: %w", err))
		}
	})
	if w.options.OnShow != nil {
		r, err := w.conn.NewReader(over, w.names)
		if err != nil {
			return err
		}
		defer r.Close()
		helpers.Go(func() { showAll(r, w.options.OnShow) })
	}
	if w.options.OnStatus != nil {
		w.options.OnStatus(w.all)
	}
	if w.options.OnBegin != nil {
		w.options.OnBegin()
	}
	if w.options.Time > 0 {
		defer time.AfterFunc(w.options.Time, func() { w.stop(nil) }).Stop()
	}
	for ctx.Err() == nil {
		if err := w.tend(ctx); err != nil && ctx.Err() == nil && w.options.OnWait != nil {
			w.options.OnWait(fmt.Sprintf("the log does not answer: %v", err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(stream.LeaseFor / 6):
		}
	}
	err := context.Cause(ctx)
	if errors.Is(err, context.Canceled) || errors.Is(err, errEnded) {
		err = nil
	}
	last, stop := context.WithTimeout(context.Background(), endWithin)
	defer stop()
	if w.options.Shared.Listen != "" {
		err = errors.Join(err, w.endWatch(last))
	}
	err = errors.Join(err, w.leave(last))
	for n := w.findings(); ; time.Sleep(10 * time.Millisecond) { // the last ones are on their way
		w.mu.Lock()
		received := w.received
		w.mu.Unlock()
		if received >= n || last.Err() != nil {
			return err
		}
	}
}

// findings is how many findings the log has at least.
func (w *sharing) findings() (n int) {
	for _, p := range w.report.Properties {
		n += p.Findings
	}
	return n
}

// endWithin is for how long the end of a watch waits for agents and verifiers.
const endWithin = 10 * time.Second

// tend keeps what this process has of the watch, and takes what nobody else has.
func (w *sharing) tend(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, stream.LeaseFor/3)
	defer stop()
	if ended, err := w.conn.Get(ctx, keyEnded); err == nil && ended != nil {
		w.stop(errEnded)
	}
	if err := w.clock.Err(); err != nil {
		w.stop(err)
	}
	now, _ := w.clock.Now()
	if err := w.conn.Pass(ctx, now); err != nil {
		return err
	}
	most, err := w.share(ctx)
	if err != nil {
		return err
	}
	for i := range w.properties {
		if err := w.tendProperty(ctx, i, most); err != nil {
			return err
		}
	}
	return nil
}

// share is how many properties this process judges at most: all processes have about as many.
func (w *sharing) share(ctx context.Context) (int, error) {
	w.mu.Lock()
	own := w.lease
	w.mu.Unlock()
	if own == nil {
		l, err := w.conn.Hold(ctx, "verifier "+w.clock.ID())
		if err != nil {
			return 0, err
		}
		w.mu.Lock()
		w.lease = l
		w.mu.Unlock()
	} else if _, err := own.Renew(ctx); err != nil {
		return 0, err
	}
	all, err := w.conn.Held(ctx, "verifier ")
	if err != nil {
		return 0, err
	}
	n := max(len(all), 1)
	return (len(w.properties) + n - 1) / n, nil
}

// tendProperty keeps, takes, or gives up a property.
func (w *sharing) tendProperty(ctx context.Context, i, most int) error {
	w.mu.Lock()
	h, n := w.held[i], len(w.held)
	w.mu.Unlock()
	key := fmt.Sprintf("property %d", i)
	if h != nil {
		held, err := h.lease.Renew(ctx)
		if err != nil {
			return err
		}
		if !held || n > most {
			w.drop(i, h)
			if held {
				return h.lease.Release(ctx)
			}
			return nil
		}
		return w.tellStatus(ctx, i, h)
	}
	if n < most {
		l, err := w.conn.Hold(ctx, key)
		if err != nil {
			return err
		}
		if l != nil {
			return w.take(i, l)
		}
	}
	text, err := w.conn.Get(ctx, fmt.Sprint(keyStatus, i))
	if err != nil || text == nil {
		return err
	}
	s := &Status{}
	if err := json.Unmarshal(text, s); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.statuses[i] = s
	return nil
}

// take begins to judge a property, from the beginning of the log.
func (w *sharing) take(i int, l *stream.Lease) error {
	r, err := w.conn.NewReader(context.Background(), w.names)
	if err != nil {
		return err
	}
	h := &holding{verifying: newVerifying(w.spec, w.properties[i], r), lease: l, reader: r}
	w.mu.Lock()
	w.held[i] = h
	if w.statuses[i] != nil {
		w.report.TakenOver++
	}
	w.mu.Unlock()
	go func() {
		defer close(h.done)
		n := 0
		err := h.run(func(f *live.Finding) error {
			text, err := json.Marshal(words(w.spec, f))
			if err != nil {
				return err
			}
			n++
			return w.conn.Publish(w.life, i, n-1, text)
		})
		if err = errors.Join(err, r.Err()); err != nil && w.life.Err() == nil {
			w.stop(err)
		}
	}()
	return nil
}

// drop stops to judge a property. Another process judges it, or will.
func (w *sharing) drop(i int, h *holding) {
	h.reader.Close()
	<-h.done
	w.mu.Lock()
	defer w.mu.Unlock()
	w.statuses[i] = h.status.Load()
	delete(w.held, i)
}

// tellStatus tells others how far a property is judged.
func (w *sharing) tellStatus(ctx context.Context, i int, h *holding) error {
	text, err := json.Marshal(h.status.Load())
	if err != nil {
		return err
	}
	return w.conn.Set(ctx, fmt.Sprint(keyStatus, i), text)
}

// enter enters a finding of this or another process.
func (w *sharing) enter(text []byte) {
	var f Finding
	if err := json.Unmarshal(text, &f); err != nil {
		w.stop(fmt.Errorf("log: a finding cannot be read: %w", err))
		return
	}
	_, now := w.clock.Now()
	f.Delay = time.Duration(now - f.At)
	w.mu.Lock()
	w.received++
	if len(w.report.Findings) < findingsMax {
		w.report.Findings = append(w.report.Findings, f)
	}
	w.mu.Unlock()
	if w.options.OnFinding != nil {
		w.options.OnFinding(f)
	}
	if w.options.First {
		w.stop(nil)
	}
}

// all are the statuses of all properties.
func (w *sharing) all() (all []*Status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.properties {
		if h := w.held[i]; h != nil {
			all = append(all, h.status.Load())
		} else if s := w.statuses[i]; s != nil {
			all = append(all, s)
		}
	}
	return all
}

// endWatch has agents end, and waits until all that they told is judged.
func (w *sharing) endWatch(ctx context.Context) error {
	if err := w.conn.Set(ctx, keyEnded, []byte("true")); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	for ctx.Err() == nil {
		all, err := w.conn.Held(ctx, "node ")
		if err == nil && len(all) == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	// Agents that do not answer have left a gap, which verifiers count.
	last, stop := context.WithTimeout(context.Background(), endWithin)
	defer stop()
	return w.conn.End(last)
}

// leave gives up what this process has. If the log has ended, that is judged first.
func (w *sharing) leave(ctx context.Context) error {
	var all error
	if w.options.Shared.Listen == "" {
		w.mu.Lock()
		for _, h := range w.held {
			h.reader.Close()
		}
		w.mu.Unlock()
	}
	for i := range w.properties {
		h := w.held[i]
		if h == nil {
			continue
		}
		select {
		case <-h.done:
		case <-time.After(endWithin):
			h.reader.Close()
			w.die()
			<-h.done
		}
		all = errors.Join(all, w.tellStatus(ctx, i, h))
		_ = h.lease.Release(ctx) // else it ends by itself
	}
	if w.lease != nil {
		_ = w.lease.Release(ctx)
	}
	for i, p := range w.properties {
		w.reportOn(ctx, i, p)
	}
	return all
}

// reportOn enters what came of a property, here or elsewhere.
func (w *sharing) reportOn(ctx context.Context, i int, p *judge.Properties) {
	s := w.statuses[i]
	if h := w.held[i]; h != nil {
		s = h.status.Load()
	} else {
		for w.options.Shared.Listen != "" && (s == nil || !s.Done) && ctx.Err() == nil {
			text, err := w.conn.Get(ctx, fmt.Sprint(keyStatus, i))
			if next := (&Status{}); err == nil && text != nil && json.Unmarshal(text, next) == nil {
				s = next
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	switch {
	case s == nil:
		w.report.Doubts = append(w.report.Doubts, fmt.Sprintf("%s: no process has judged it", nameOf(p)))
		return
	case w.options.Shared.Listen != "" && !s.Done:
		w.report.Doubts = append(w.report.Doubts, fmt.Sprintf("%s: the log was not judged up to its end", s.Name))
	}
	w.report.add(s)
}

// nameOf is the name of the one property that p has.
func nameOf(p *judge.Properties) string {
	for _, q := range p.Predicates {
		return q.Name
	}
	return p.Config.Goals[0].Name
}
