package guest

import (
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"
)

// TestTwoNodes runs servers with their clients: testdata/two/<name>/server.* and
// client.*. A server is started with a port, a client with the server's name and
// port. Natively both are on loopback.
func TestTwoNodes(t *testing.T) {
	servers, err := filepath.Glob("testdata/two/*/server.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		name := filepath.Base(filepath.Dir(s))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clients, err := filepath.Glob(filepath.Join(filepath.Dir(s), "client.*"))
			if err != nil || len(clients) != 1 {
				t.Fatal("one client is wanted", clients, err)
			}
			pair{read(t, name+"_server", s), read(t, name+"_client", clients[0])}.test(t)
		})
	}
}

// pair is a server and its client.
type pair struct{ server, client program }

func (p pair) test(t *testing.T) {
	p.server.skip(t)
	p.client.skip(t)
	dir := t.TempDir()
	server, client := p.server.build(t, dir), p.client.build(t, dir)
	nodes := []node{
		{name: "server", program: p.server, file: server, args: []string{"7000"}},
		{name: "client", program: p.client, file: client, args: []string{"server", "7000"}},
	}
	want := p.native(t, dir, server, client)
	got := emulate(t, dir, nodes)
	for _, n := range nodes {
		want[n.name].mustShow(t, n.name)
		got[n.name].mustEqual(t, n.name, want[n.name])
	}
}

// native runs both on loopback at the same time.
func (p pair) native(t *testing.T, dir, server, client string) map[string]outcome {
	t.Helper()
	port := freePort(t)
	p.server.args = []string{port}
	p.client.args = []string{"127.0.0.1", port}
	var s, c outcome
	var both sync.WaitGroup
	both.Go(func() { s = p.server.native(t, filepath.Join(dir, server)) })
	both.Go(func() { c = p.client.native(t, filepath.Join(dir, client)) })
	both.Wait()
	return map[string]outcome{"server": s, "client": c}
}

// freePort finds a port for a moment.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}
