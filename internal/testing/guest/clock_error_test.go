package guest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// clockError is a node whose timer is due 2 ms before a message arrives, and ends with
// the status that it is told to give for one of three things that it may see.
const clockError = `
#include "net.h"
#include <sys/timerfd.h>

int main(int argc, char **argv)
{
	int s = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	struct sockaddr_in me = {.sin_family = AF_INET, .sin_port = htons(7000)};
	if (!strcmp(argv[1], "sends")) {
		me.sin_addr.s_addr = inet_addr("10.0.0.1");
		usleep(7000);
		for (int i = 0; i < 2; i++)
			MUST(sendto(s, "m", 1, 0, (void *)&me, sizeof me));
		return 0;
	}
	MUST(bind(s, (void *)&me, sizeof me));
	int t = MUST(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK)), fired = 0;
	struct itimerspec left, it = {{0, 0}, {0, 10000000}};
	MUST(timerfd_settime(t, 0, &it, NULL));
	struct pollfd p[2] = {{s, POLLIN, 0}, {t, POLLIN, 0}};
	uint64_t n;
	char b;
	for (int got = 0; got < 2;) {
		MUST(poll(p, 2, -1));
		if (p[0].revents && recv(s, &b, 1, MSG_DONTWAIT) == 1) {
			got++;
			MUST(timerfd_gettime(t, &left));
			int due = left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0;
			int r = read(t, &n, 8);
			if (due && !fired && r != 8 && !strcmp(argv[1], "late"))
				return 1;
			fired = fired || r == 8;
			if (got == 2 && !fired && !strcmp(argv[1], "messages"))
				return 1;
		}
		if (p[1].revents && read(t, &n, 8) == 8) {
			fired = 1;
			if (!got && !strcmp(argv[1], "timer"))
				return 1;
		}
	}
	return 0;
}
`

// TestClockError: a node whose timer is due when a message arrives may get that first,
// and both messages first, but never sees that the timer is due and has not expired.
func TestClockError(t *testing.T) {
	command, err := ariadne()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("needs gcc")
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	build := exec.Command("gcc", "-O1", "-pthread", "-Itestdata", "-o", filepath.Join(dir, "node"),
		write("node.c", clockError))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for sees, want := range map[string]string{
		"late":     "No violation. Explored every state within the bounds, at the times at which events happened: ",
		"messages": "violation: death: node waits: ",
		"timer":    "violation: death: node waits: ",
	} {
		spec := write(sees+".yaml", "latency: 5ms\nclock_error: 3ms\nnodes:\n"+
			"  - {name: waits, address: 10.0.0.1, command: ./node "+sees+", client: true}\n"+
			"  - {name: sends, command: ./node sends, client: true}\n")
		run := finish(t,
			exec.CommandContext(t.Context(), command, "check", "--strategy", "depth-first", "--out",
				filepath.Join(dir, sees), spec))
		if !strings.Contains(run.stdout, want) {
			t.Errorf("%s: want %q\n%s%s", sees, want, run.stdout, run.stderr)
		}
	}
}
