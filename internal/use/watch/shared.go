package watch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	// TLS is how connections to either server are encrypted.
	TLS stream.TLS
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
	c, err := stream.Connect(ctx, o.Log, o.name(s), o.TLS, o.OnWait)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Open(ctx, o.OnWait); err != nil {
		return err
	}
	if err := c.OnEnded(func() { cancel(errEnded) }); err != nil {
		return err
	}
	t, err := followTurns(ctx, c, s, func(err error) { cancel(err) })
	if err != nil {
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
	now, _ := t.state()
	if s, err = parseTexts(s.Path, now.all[now.last()].text); err != nil {
		return err
	}
	w := c.NewWriter(clock, names)
	routing, err := Routing(s)
	if err != nil {
		return errors.Join(err, w.Close())
	}
	w.Turn(now.last(), routing)
	a, err := newAgent(s, w, own)
	if err != nil {
		return errors.Join(err, w.Close())
	}
	a.onWait, a.absolute, a.base, a.turned = o.OnWait, true, 0, now.last() > 0
	for _, n := range a.nodes {
		first, err := c.Agree(ctx, keyAgents+stream.Token(n.def.Name), []byte(w.Session()))
		if err != nil {
			return errors.Join(err, a.close(), w.Close())
		}
		if n.resumed = string(first) != w.Session(); n.resumed {
			w.Resume(n.def.ID)
		}
	}
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		keep(ctx, cancel, c, clock, leases, &silence{onWait: o.OnWait})
	}()
	var turned sync.WaitGroup
	turning, stopTurns := context.WithCancel(ctx)
	defer stopTurns()
	err = a.attach(ctx)
	if err == nil {
		if o.OnBegin != nil {
			o.OnBegin()
		}
		turns := &agentTurns{turns: t, conn: c, agent: a, writer: w, number: now.last()}
		turned.Go(func() {
			if err := turns.run(turning); err != nil && turning.Err() == nil {
				cancel(err)
			}
		})
		err = a.run(ctx)
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) && !errors.Is(cause, errEnded) {
		err = errors.Join(err, cause)
	}
	for _, d := range slices.Concat(a.doubts(), a.unfound()) {
		err = errors.Join(err, errors.New(d))
	}
	stopTurns()
	turned.Wait()
	err = errors.Join(err, a.close())
	if left := w.Close(); !errors.Is(err, errGone) {
		err = errors.Join(err, left)
	}
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

// goneAfter is for how long the log may be away. Then its processes end. Tests shorten it.
var goneAfter = 10 * time.Minute

// errGone says that the log was away for so long.
var errGone = errors.New("the log has not answered")

// silence is for how long the log has not answered. It does not count how long this process was
// stopped.
type silence struct {
	onWait func(string) // or nil
	asked  time.Time
	lasts  time.Duration
}

// enter enters what came of a question to the log. It reports whether the log is gone.
func (s *silence) enter(err error) (gone bool) {
	now := time.Now()
	since := min(now.Sub(s.asked), stream.LeaseFor)
	s.asked = now
	say := func(text string) {
		if s.onWait != nil {
			s.onWait(text)
		}
	}
	if err == nil {
		if s.lasts > 0 {
			say("the log answers again")
		}
		s.lasts = 0
		return false
	}
	if s.lasts == 0 {
		say(fmt.Sprintf("the log does not answer: waiting for it for %v, or until an interrupt: %v", goneAfter, err))
	}
	s.lasts += max(since, 1)
	return s.lasts >= goneAfter
}

// keep renews leases until ctx ends, and ends it with the watch, or when this agent was replaced.
// It ends it also when the log is gone.
func keep(ctx context.Context, cancel context.CancelCauseFunc, c *stream.Conn, k *stream.Clock,
	leases []*stream.Lease, s *silence) {
	for ctx.Err() == nil {
		short, stop := context.WithTimeout(ctx, stream.LeaseFor/3)
		ended, err := c.Get(short, keyEnded)
		switch {
		case ctx.Err() != nil:
		case s.enter(err):
			cancel(fmt.Errorf("%w for %v: its server has ended, or this machine does not reach it", errGone, goneAfter))
		case ended != nil:
			cancel(errEnded)
		}
		for _, l := range leases {
			if held, err := l.Renew(short); err == nil && !held {
				cancel(errors.New("another agent has taken over the nodes of this one, which was away for too long"))
			}
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
	spec    *spec.Spec // of the last turn
	options Options
	conn    *stream.Conn
	clock   *stream.Clock
	names   []string
	turns   *turns

	mu       sync.Mutex
	turn     int // the last one whose properties are in parts
	parts    []*part
	report   Report
	lease    *stream.Lease // of being a verifier
	received int           // findings, of all processes
	ended    bool          // the process with the log's server has ended the watch
	told     atomic.Bool   // the same, as it was told
	silence  silence
	gone     bool // the log is away for good
	life     context.Context
	die      func() // ends life: nothing waits for the server any more
	stop     context.CancelCauseFunc
}

// part is what one process judges at a time: a property, or a part of one by keys, in one turn.
type part struct {
	key        string // names the part
	number     int    // of the parts of the property, from 0
	want       *stream.Want
	turn       int
	from       uint64 // where the turn begins in the log
	sum        string // of the texts of the turn
	spec       *spec.Spec
	properties *judge.Properties
	held       *holding // nil: this process does not judge it
	status     *Status  // as another process told it last, or nil
}

// isOver reports whether all of the part's turn is judged.
func (p *part) isOver() bool { return p.held == nil && p.status != nil && p.status.Done }

// holding is a part that this process judges.
type holding struct {
	*verifying
	lease  *stream.Lease
	reader *stream.Reader
	saved  ariadne.Time  // when it made a checkpoint last, by native.Now
	saving time.Duration // how long that took
}

// watchShared judges what agents tell in a log. It ends the watch if it has the log's server.
func watchShared(ctx context.Context, s *spec.Spec, o Options) (r *Report, err error) {
	if _, _, err := judged(s); err != nil {
		return nil, err
	}
	at, name := o.Shared.Log, o.Shared.name(s)
	connect := func(ctx context.Context) (*stream.Conn, error) {
		return stream.Connect(ctx, at, name, o.Shared.TLS, o.OnWait)
	}
	if o.Shared.Listen != "" {
		dir := o.Shared.Store
		if dir == "" {
			var remove func() error
			if dir, remove, err = native.TempDir(); err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, remove()) }()
		}
		server, own, err := stream.Serve(o.Shared.Listen, dir, o.Shared.TLS)
		if err != nil {
			return nil, err
		}
		defer func() {
			server.Shutdown()
			server.WaitForShutdown()
		}()
		at = own
		connect = func(context.Context) (*stream.Conn, error) { return stream.ConnectOwn(server, at, name) }
	}
	began := native.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c, err := connect(ctx)
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
	following, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	w := &sharing{spec: s, options: o, conn: c, turn: -1, stop: cancel, silence: silence{onWait: o.OnWait}}
	if err := c.OnEnded(func() { w.told.Store(true) }); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	joined := context.AfterFunc(ctx, leave)
	if w.turns, err = followTurns(following, c, s, func(err error) { cancel(err) }); err != nil {
		return nil, err
	}
	joined()
	w.life, w.die = context.WithCancel(context.Background())
	defer w.die()
	w.names = mapped(s.Nodes, func(n spec.Node) string { return n.Name })
	if w.clock, err = c.NewClock(ctx, 0, o.OnWait); err != nil {
		return nil, err
	}
	if o.OnLog != nil {
		o.OnLog(at, c.Name())
	}
	if err := w.run(ctx); err != nil {
		return nil, err
	}
	w.report.Elapsed, w.report.Turns = time.Duration(native.Now()-began), w.turn
	w.report.Notes = append(w.report.Notes, faultNotes(s, &w.options)...)
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
	if err := w.enterTurns(over, &helpers); err != nil {
		return err
	}
	helpers.Go(func() {
		for over.Err() == nil {
			_, more := w.turns.state()
			if err := w.enterTurns(over, &helpers); err != nil {
				w.stop(err)
				return
			}
			select {
			case <-more:
			case <-over.Done():
			}
		}
	})
	if w.options.OnStatus != nil {
		w.options.OnStatus(w.statuses)
	}
	if w.options.OnBegin != nil {
		w.options.OnBegin()
	}
	if w.options.Time > 0 {
		defer time.AfterFunc(w.options.Time, func() { w.stop(nil) }).Stop()
	}
	for ctx.Err() == nil && !w.ended && !w.gone {
		if err := w.tend(ctx); err != nil && ctx.Err() == nil && w.silence.lasts == 0 {
			w.wait(fmt.Sprintf("the log does not answer: %v", err))
		}
		select {
		case <-ctx.Done():
		case <-w.options.Reload:
			helpers.Go(func() {
				if err := w.change(ctx); err != nil && w.options.OnReload != nil {
					w.options.OnReload(err)
				}
			})
		case <-time.After(stream.LeaseFor / 6):
		}
	}
	err := context.Cause(ctx)
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	if w.staysToEnd() {
		err = errors.Join(err, w.finish())
	}
	if w.gone {
		w.report.Doubts = append(w.report.Doubts,
			"the log does not answer any more: its server has ended, or this machine does not reach it")
		w.letGo()
		return errors.Join(err, w.leave(context.Background()))
	}
	last, stop := context.WithTimeout(context.Background(), endWithin)
	defer stop()
	err = errors.Join(err, w.leave(last))
	// the last ones are on their way
	for n := w.findings(); last.Err() == nil; time.Sleep(10 * time.Millisecond) {
		w.mu.Lock()
		received := w.received
		w.mu.Unlock()
		if received >= n {
			break
		}
	}
	return errors.Join(err, w.sayLeft(last))
}

// staysToEnd reports whether this process judges up to the end of the log. Another one leaves the
// watch earlier.
func (w *sharing) staysToEnd() bool { return w.ended || w.options.Shared.Listen != "" }

// finish judges, together with the other processes, all that agents have told up to the end of the
// log. So all processes report the same.
func (w *sharing) finish() error {
	ending := make(chan error, 1)
	if w.options.Shared.Listen != "" {
		go func() { ending <- w.endWatch() }()
	} else {
		ending <- nil
	}
	ctx, stop := context.WithTimeout(context.Background(), 3*endWithin)
	defer stop()
	var err error
	seen := time.Now()
	for ending != nil || !w.isJudged() && ctx.Err() == nil {
		select {
		case err = <-ending:
			ending = nil
		case <-time.After(50 * time.Millisecond):
		}
		_ = w.tend(ctx) // the report has what could not be judged
		if !w.conn.IsAway() {
			seen = time.Now()
		}
		if w.gone = w.gone || w.ended && time.Since(seen) > goneAtEnd; w.gone {
			break
		}
	}
	return err
}

// goneAtEnd is for how long the log may be away when the watch has ended.
const goneAtEnd = endWithin / 2

// letGo ends all that this process does with the log. It would wait for the server.
func (w *sharing) letGo() {
	w.die()
	w.conn.Close()
	var all sync.WaitGroup
	for _, p := range w.all() {
		if p.held != nil {
			all.Go(p.held.reader.Close)
		}
	}
	all.Wait()
}

// isJudged reports whether all parts are judged up to the end of the log.
func (w *sharing) isJudged() bool {
	return !slices.ContainsFunc(w.all(), func(p *part) bool {
		return !p.isOver() && (p.held == nil || !p.held.status.Load().Done)
	})
}

// sayLeft says that this process needs the log no longer. The one that has the server waits for the
// others.
func (w *sharing) sayLeft(ctx context.Context) error {
	if w.lease != nil {
		_ = w.lease.Release(ctx) // else it ends by itself
	}
	if w.options.Shared.Listen == "" {
		return nil
	}
	for ctx.Err() == nil {
		all, err := w.conn.Held(ctx, "verifier ")
		if err != nil || len(all) == 0 {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// enterTurns enters the turns that have begun.
func (w *sharing) enterTurns(over context.Context, helpers *sync.WaitGroup) error {
	now, _ := w.turns.state()
	for w.turn < now.last() {
		w.mu.Lock()
		number := w.turn + 1
		w.mu.Unlock()
		begun := now.all[number]
		s, err := parseTexts(w.spec.Path, begun.text)
		if err != nil {
			return err
		}
		all, notes, err := judged(s)
		if err != nil {
			return err
		}
		if w.options.OnShow != nil {
			r, err := w.conn.NewReader(over, w.names, number, begun.from, nil)
			if err != nil {
				return err
			}
			context.AfterFunc(over, r.Close)
			helpers.Go(func() { showAll(r, w.options.OnShow) })
		}
		routing := newRouting(s, all)
		divided := 0
		w.mu.Lock()
		w.turn, w.spec, w.report.Notes = number, s, notes
		for i, p := range all {
			n := partsOf(s, p)
			for k := range n {
				var want *stream.Want
				if n > 1 {
					want = &stream.Want{Routing: routing, Property: divided, Part: k}
				}
				key := fmt.Sprintf("%d %d", number, i)
				if n > 1 {
					key += fmt.Sprintf(" %d of %d", k+1, n)
				}
				w.parts = append(w.parts, &part{key: key, number: k, want: want, turn: number, from: begun.from,
					sum: sum(begun.text), spec: s, properties: p})
			}
			if n > 1 {
				divided++
			}
		}
		w.mu.Unlock()
		if number > 0 && w.options.OnReload != nil {
			w.options.OnReload(nil)
		}
	}
	return nil
}

// all are the parts of all turns so far.
func (w *sharing) all() []*part {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.parts)
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
func (w *sharing) tend(life context.Context) error {
	ctx, stop := context.WithTimeout(life, stream.LeaseFor/3)
	defer stop()
	ended, err := w.conn.Get(ctx, keyEnded)
	w.ended = w.ended || ended != nil || w.told.Load()
	if life.Err() == nil && w.options.Shared.Listen == "" {
		w.gone = w.silence.enter(err)
	}
	if err != nil {
		return err
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
	for _, p := range w.all() {
		if p.isOver() {
			continue
		}
		if err := w.tendPart(ctx, p, most); err != nil {
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
	left := len(slices.DeleteFunc(w.all(), (*part).isOver))
	return (left + n - 1) / n, nil
}

// holds is how many parts this process judges.
func (w *sharing) holds() (n int) {
	for _, p := range w.all() {
		if p.held != nil {
			n++
		}
	}
	return n
}

// tendPart keeps, takes, or gives up a part.
func (w *sharing) tendPart(ctx context.Context, p *part, most int) error {
	if h := p.held; h != nil {
		held, err := h.lease.Renew(ctx)
		if err != nil {
			return err
		}
		if held {
			if err := w.tellStatus(ctx, p); err != nil {
				return err
			}
		}
		over := h.status.Load().Done && h.reader.Turned()
		if !held || over || w.holds() > most {
			w.drop(p)
			if held {
				return h.lease.Release(ctx)
			}
		}
		return nil
	}
	if err := w.readStatus(ctx, p); err != nil || p.isOver() || w.holds() >= most {
		return err
	}
	l, err := w.conn.Hold(ctx, "part "+p.key)
	if err != nil || l == nil {
		return err
	}
	// The last process that held it has told all that it knew before.
	if err := w.readStatus(ctx, p); err != nil {
		return err
	}
	if p.isOver() {
		return l.Release(ctx)
	}
	return w.take(ctx, p, l)
}

// readStatus reads what another process has told of a part.
func (w *sharing) readStatus(ctx context.Context, p *part) error {
	text, err := w.conn.Get(ctx, keyStatus+stream.Token(p.key))
	if err != nil || text == nil {
		return err
	}
	s := &Status{}
	if err := json.Unmarshal(text, s); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.status = s
	return nil
}

// take begins to judge a part, from its checkpoint or from the beginning of its turn.
func (w *sharing) take(ctx context.Context, p *part, l *stream.Lease) error {
	h := w.restore(ctx, p, l)
	restored := h != nil
	if h == nil {
		r, err := w.conn.NewReader(context.Background(), w.names, p.turn, p.from, p.want)
		if err != nil {
			return err
		}
		h = &holding{verifying: newVerifying(p.spec, p.properties, p.number, r, p.turn), lease: l, reader: r}
	}
	h.saved = native.Now()
	h.onRead = func() error { return w.keepCheckpoint(p, h) }
	w.mu.Lock()
	p.held = h
	if p.status != nil {
		w.report.TakenOver++
	}
	if restored {
		w.report.Restored++
	}
	w.mu.Unlock()
	go func() {
		defer close(h.done)
		n := h.findings
		err := h.run(func(f *live.Finding) error {
			text, err := json.Marshal(words(p.spec, f, p.turn))
			if err != nil {
				return err
			}
			n++
			return w.conn.Publish(w.life, p.key, n-1, text)
		})
		if err = errors.Join(err, h.reader.Err()); err != nil && w.life.Err() == nil {
			w.stop(err)
		}
	}()
	return nil
}

// drop stops to judge a part. Another process judges it, or will, unless its turn is over.
func (w *sharing) drop(p *part) {
	h := p.held
	h.reader.Close()
	<-h.done
	w.mu.Lock()
	defer w.mu.Unlock()
	p.status, p.held = h.status.Load(), nil
}

// tellStatus tells others how far a part is judged.
func (w *sharing) tellStatus(ctx context.Context, p *part) error {
	text, err := json.Marshal(p.held.status.Load())
	if err != nil {
		return err
	}
	return w.conn.Set(ctx, keyStatus+stream.Token(p.key), text)
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

// statuses are those of the properties of the last turn.
func (w *sharing) statuses() (all []*Status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.parts {
		switch {
		case p.turn != w.turn:
		case p.held != nil:
			all = append(all, p.held.status.Load())
		case p.status != nil:
			all = append(all, p.status)
		}
	}
	return joined(all)
}

// endWatch has agents end, and then the log.
func (w *sharing) endWatch() error {
	ctx, stop := context.WithTimeout(context.Background(), endWithin)
	defer stop()
	if err := w.conn.Set(ctx, keyEnded, []byte("true")); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	_ = w.conn.TellEnded() // who does not hear it asks for the key
	for ctx.Err() == nil {
		all, err := w.conn.Held(ctx, "node ")
		if err == nil && len(all) == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	// Agents that do not answer have left a gap, which verifiers count.
	last, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	return w.conn.End(last)
}

// leave gives up the parts that this process has, and makes the report.
func (w *sharing) leave(ctx context.Context) error {
	var all error
	parts := w.all()
	if !w.staysToEnd() {
		w.report.Notes = append(w.report.Notes,
			"this process has left the watch before its end: its numbers are those up to then")
		for _, p := range parts {
			if p.held != nil {
				p.held.reader.Close()
			}
		}
	}
	for _, p := range parts {
		h := p.held
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
		if w.gone {
			continue
		}
		all = errors.Join(all, w.tellStatus(ctx, p))
		_ = h.lease.Release(ctx) // else it ends by itself
	}
	var statuses []*Status
	for _, p := range parts {
		if s := w.outcome(p); s != nil {
			statuses = append(statuses, s)
		}
	}
	for _, s := range joined(statuses) {
		w.report.add(w.spec, s)
	}
	return all
}

// outcome is what came of a part, here or elsewhere; nil: nobody has told.
func (w *sharing) outcome(p *part) *Status {
	s := p.status
	if h := p.held; h != nil {
		s = h.status.Load()
	}
	switch {
	case s == nil:
		w.report.Doubts = append(w.report.Doubts, fmt.Sprintf("%s: no process has judged it", nameOf(p.properties)))
	case w.staysToEnd() && !s.Done:
		w.report.Doubts = append(w.report.Doubts, fmt.Sprintf("%s: the log was not judged up to its end", s.Name))
	}
	return s
}

// nameOf is the name of the one property that p has.
func nameOf(p *judge.Properties) string {
	for _, q := range p.Predicates {
		return q.Name
	}
	return p.Config.Goals[0].Name
}
