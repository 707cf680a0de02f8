package watch

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/native/probe"

	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

// TestTraffic: whatever messages and events there are, and however often the agent looks, an event
// has the positions that a count of all messages gives it.
func TestTraffic(t *testing.T) {
	stream := func(i int) live.Stream {
		return live.Stream{From: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, 1}), uint16(i)),
			To: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, 2}), 1)}
	}
	bounded := 0
	rapid.Check(t, func(t *rapid.T) {
		tr := traffic{got: map[live.Stream]uint32{}}
		streams := rapid.IntRange(1, 3).Draw(t, "streams")
		// What programs have written and read of each stream so far, and all messages.
		written, read := map[live.Stream]uint32{}, map[live.Stream]uint32{}
		var all []message
		clock, looked := ariadne.Time(0), ariadne.Time(0)
		for i := range streams {
			written[stream(i)] = ^uint32(0) - 3
			clock++
			m := message{clock, stream(i), false, ^uint32(0) - 3}
			read[m.stream] = m.position
			all, tr.messages = append(all, m), append(tr.messages, m)
		}
		for range rapid.IntRange(1, 6).Draw(t, "looks") {
			var events []*live.Record
			for range rapid.IntRange(0, 12).Draw(t, "steps") {
				clock++
				s := stream(rapid.IntRange(0, streams-1).Draw(t, "stream"))
				switch rapid.SampledFrom([]string{"write", "read", "call", "line"}).Draw(t, "what") {
				case "write":
					m := message{clock, s, true, written[s]}
					written[s] += uint32(rapid.IntRange(1, 3).Draw(t, "bytes"))
					all, tr.messages = append(all, m), append(tr.messages, m)
				case "read":
					read[s] += uint32(rapid.IntRange(1, 3).Draw(t, "bytes"))
					m := message{clock, s, false, read[s]}
					all, tr.messages = append(all, m), append(tr.messages, m)
				case "call":
					events = append(events, &live.Record{Kind: live.Show, After: clock, At: clock})
				case "line":
					events = append(events, &live.Record{Kind: live.Show, After: looked, At: clock})
				}
			}
			clock++
			now := &live.Positions{Sent: maps.Clone(written), Got: maps.Clone(read)}
			tr.bound(events, now)
			tr.forget(clock, now)
			for _, e := range events {
				want := &live.Positions{Sent: maps.Clone(written), Got: map[live.Stream]uint32{}}
				for _, m := range all {
					if m.at <= e.After && !m.writes {
						want.Got[m.stream] = m.position
					}
				}
				for i := len(all) - 1; i >= 0 && all[i].at > e.At; i-- {
					if m := all[i]; m.writes {
						want.Sent[m.stream] = m.position
					}
				}
				if got := e.Positions; !reflect.DeepEqual(got, want) || e.Read != e.At {
					t.Fatalf("event from %v to %v has %v at %v, want %v", e.After, e.At, got, e.Read, want)
				}
				if !maps.Equal(want.Sent, written) || !maps.Equal(want.Got, read) {
					bounded++
				}
			}
			looked = clock
		}
		if len(tr.messages) > 0 {
			t.Fatalf("%d messages are kept", len(tr.messages))
		}
		tr.forget(clock, &live.Positions{})
		if len(tr.got) > 0 {
			t.Fatalf("streams that are over are kept: %v", tr.got)
		}
	})
	if bounded == 0 {
		t.Error("no event has other positions than those of the look: the test tries too little")
	}
}

// token passes a token to and fro over TCP. The process that has it sleeps for a while. It calls
// holds before that, and gives after it.
const token = `
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

__attribute__((noinline)) void holds(int turn) { __asm__ volatile("" :: "r"(turn)); }
__attribute__((noinline)) void gives(int turn) { __asm__ volatile("" :: "r"(turn)); }

int main(int n, char **args) {
	int first = atoi(args[1]), one = 1, s = socket(AF_INET, SOCK_STREAM, 0), turn = 0;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(args[2])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (first) {
		setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
		if (bind(s, (void *)&at, sizeof at) || listen(s, 1) || (s = accept(s, 0, 0)) < 0)
			return 1;
	} else {
		while (connect(s, (void *)&at, sizeof at))
			usleep(10000);
	}
	for (;; turn++) {
		if ((turn > 0 || !first) && read(s, &turn, sizeof turn) != sizeof turn)
			return 2;
		turn++;
		holds(turn);
		usleep(4000);
		gives(turn);
		if (write(s, &turn, sizeof turn) != sizeof turn)
			return 3;
	}
}
`

// buildToken builds token.
func buildToken(t *testing.T) (program string) { return compiled(t, token) }

// compiled builds a program in C with debug information, for a test that needs probes.
func compiled(t *testing.T, source string) (program string) {
	t.Helper()
	if why, _ := probe.Check(); why != "" {
		t.Skip(why)
	}
	program = filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program+".c", []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-g", "-O1", "-o", program, program+".c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// passing is a spec of two processes that pass the token, whose clocks differ by more than a token
// is held for.
func passing(program string, port int, each bool) string {
	return fmt.Sprintf(`
nodes: [{name: n1}, {name: n2}]
expose: {holds: {function: holds, fields: {turn: turn}, until_function: gives}}
properties: {at most one holds: {one: holds}}
watch:
  each_message: %v
  clock_error: 50ms
  nodes:
    n1: {start: '%s 1 %d'}
    n2: {start: '%s 0 %d'}
`, each, program, port, program, port)
}

// TestEachMessage: where clocks differ by more than a token is held for, the messages that pass it
// tell who had it, if the positions of each are known.
func TestEachMessage(t *testing.T) {
	program := buildToken(t)
	for _, each := range []bool{true, false} {
		r := watchFor(t, specOf(t, passing(program, freePort(t), each)), Options{Time: 2 * time.Second})
		p := r.Properties[0]
		if wrong := each && (r.Outcome != record.Nothing || len(r.Doubts) > 0); wrong || p.Findings > 0 ||
			p.Events < 200 || p.Inverted > 0 {
			t.Fatalf("each message %v: %v %+v %q %+v", each, r.Outcome, p, r.Doubts, r.Findings)
		}
		if each && p.Undecided > p.Events/5 || !each && p.Undecided < p.Events/2 {
			t.Errorf("each message %v: %d of %d moments are undecided", each, p.Undecided, p.Events)
		}
	}
}

// TestEachMessageReload: so they do after other probes were set.
func TestEachMessageReload(t *testing.T) {
	s := specOf(t, passing(buildToken(t), freePort(t), true))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	reload, reloaded := make(chan struct{}), make(chan error, 1)
	go func() {
		defer cancel()
		time.Sleep(time.Second)
		text, err := os.ReadFile(s.Path)
		if err == nil {
			more := strings.Replace(string(text), "expose: {",
				"expose: {given: {function: gives, fields: {turn: turn}}, ", 1)
			err = os.WriteFile(s.Path, []byte(more), 0o644)
		}
		if err != nil {
			t.Error(err)
		}
		reload <- struct{}{}
		if err := <-reloaded; err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Second)
	}()
	given := 0
	r, err := Watch(ctx, s, Options{Reload: reload, OnReload: func(err error) { reloaded <- err },
		OnShow: func(r live.Record) {
			if strings.Contains(What(&r), "given(") {
				given++
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range r.Doubts {
		if !strings.Contains(d, "the spec has changed") {
			t.Error(d)
		}
	}
	p := r.Properties[0]
	if p.Findings > 0 || p.Events < 200 || p.Inverted > 0 || given < 100 {
		t.Errorf("%v %+v %q %+v, %d times given", r.Outcome, p, r.Doubts, r.Findings, given)
	}
	if p.Undecided > p.Events/5 {
		t.Errorf("%d of %d moments are undecided", p.Undecided, p.Events)
	}
}

// freePort is a port of the loopback interface that nobody uses.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
