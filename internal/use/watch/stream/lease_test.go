package stream

import (
	"context"
	"slices"
	"sync"
	"testing"
)

// TestHeld: a lease that is renewed again and again is held whenever somebody looks, and one that
// was released is not.
func TestHeld(t *testing.T) {
	server, at, err := Serve("127.0.0.1:0", t.TempDir(), TLS{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.WaitForShutdown()
	defer server.Shutdown()
	c, err := Connect(t.Context(), at, "held", TLS{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	hold := func(key string) *Lease {
		l, err := c.Hold(t.Context(), key)
		if l == nil || err != nil {
			t.Fatal(l, err)
		}
		return l
	}
	released := hold("node n3")
	if err := released.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	hold("part 1")
	ctx, cancel := context.WithCancel(t.Context())
	var renewing sync.WaitGroup
	defer renewing.Wait()
	defer cancel()
	for _, key := range []string{"node n1", "node n2"} {
		l := hold(key)
		renewing.Go(func() {
			for ctx.Err() == nil {
				if held, err := l.Renew(ctx); ctx.Err() == nil && (!held || err != nil) {
					t.Errorf("%s is not held: %v", key, err)
					return
				}
			}
		})
	}
	for range 300 {
		all, err := c.Held(t.Context(), "node ")
		if want := []string{Token("node n1"), Token("node n2")}; err != nil || !slices.Equal(all, want) {
			t.Fatalf("held are %q %v, want %q", all, err, want)
		}
	}
}
