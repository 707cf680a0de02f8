//go:build linux

package node

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/testing/typed"
)

// encodeAndThaw sees that a checkpoint gives the same bytes each time, and that a node which goes
// on from what these are decoded to does as the first did, whose outputs are outs from this step
// on.
func encodeAndThaw(t *testing.T, c *Checkpoint, outs []ariadne.Output) {
	t.Helper()
	b, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.Encode(); err != nil || !bytes.Equal(b, again) {
		t.Errorf("the same checkpoint has other bytes: %v", err)
	}
	n, err := c.ThawAs(b)
	if err != nil {
		t.Fatal(err)
	}
	for i, out := range outs[1:] {
		got, err := n.Apply(ariadne.Input{Kind: ariadne.Fire, At: outs[i].Deadline})
		if err != nil {
			t.Fatal(err)
		}
		if got.Digest != out.Digest {
			t.Errorf("%d steps after it was decoded it does %+v, not %+v", i+1, got, out)
			break
		}
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

// TestKindsAreKnown: each type of the kernel's objects that can stand where there is an interface
// is said to, so that nodes which have one can be encoded.
func TestKindsAreKnown(t *testing.T) {
	known := map[string]bool{}
	for _, k := range kernel.Kinds() {
		known["*"+k.Elem().PkgPath()+"."+k.Elem().Name()] = true
	}
	all, err := typed.Load("../kernel/...", "../sys", ".")
	if err != nil {
		t.Fatal(err)
	}
	var interfaces []*types.Interface
	core, err := all.Import(reflect.TypeFor[kernel.Node]().PkgPath())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"File", "Waiter", "WaitEntry", "Expirer", "CloseWatcher"} {
		interfaces = append(interfaces, core.Scope().Lookup(name).Type().Underlying().(*types.Interface))
	}
	found := 0
	for _, p := range all.All {
		pkg := p.Types
		if strings.HasSuffix(pkg.Path(), "test") || pkg.Path() == core.Path() {
			continue // what the core itself has is listed beside the interfaces
		}
		for _, name := range pkg.Scope().Names() {
			of, ok := pkg.Scope().Lookup(name).(*types.TypeName)
			if !ok || types.IsInterface(of.Type()) {
				continue
			}
			p := types.NewPointer(of.Type())
			if !slices.ContainsFunc(interfaces, func(i *types.Interface) bool { return types.Implements(p, i) }) {
				continue
			}
			if found++; !known[p.String()] {
				t.Errorf("%s can be in a node, and kernel.Kind does not say so", p)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d were found", found)
	}
}

// switchedOn is a node of one command that waits.
func switchedOn(t *testing.T, args ...string) *Node {
	t.Helper()
	n, apply := start(t, alone(t.TempDir(), args...))
	if out := apply(ariadne.Input{Kind: ariadne.Start}); out.Done {
		t.Fatalf("%v has ended: %+v", args, out)
	}
	return n
}

// TestDecodedElsewhere: another process reads what this one has encoded, and encodes it to the same
// bytes.
func TestDecodedElsewhere(t *testing.T) {
	const asked = "ARIADNE_DECODE"
	if name := os.Getenv(asked); name != "" {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := records().Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		b, err = records().Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("decoded %x\n", sha256.Sum256(b))
		return
	}
	n := switchedOn(t, "/usr/bin/python3", "-c", "import os,select,signal,socket,time\nr,w=os.pipe();os.write(w,b'x');s=socket.create_server(('',7));u=socket.socketpair(socket.AF_UNIX);e=select.epoll();e.register(s,1);e.register(r,1);f=open('f','w');f.write('y');f.flush();signal.setitimer(0,9)\nu[0].sendmsg([b'z'],[(socket.SOL_SOCKET,socket.SCM_RIGHTS,f.fileno().to_bytes(4,'little'))])\nif os.fork()==0: time.sleep(5)\ntime.sleep(3);print(e.poll())\n")
	c, err := n.Freeze()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Drop()
	b, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestDecodedElsewhere$")
	cmd.Env = append(os.Environ(), asked+"="+name)
	said, err := cmd.CombinedOutput()
	if want := fmt.Sprintf("decoded %x\n", sha256.Sum256(b)); err != nil || !strings.HasPrefix(string(said), want) {
		t.Errorf("another process: %v\n%swant %s", err, said, want)
	}
	t.Logf("%d bytes", len(b))
	// What belongs to other processes is refused.
	m := switchedOn(t, "/bin/sh", "-c", "sleep 1; sleep 1")
	other, err := m.Freeze()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Drop()
	if _, err := other.ThawAs(b); err == nil {
		t.Error("a node was thawed with the processes of another one")
	}
	if _, err := m.Restore(c); err == nil {
		t.Error("a node was restored to a checkpoint of another one")
	}
}
