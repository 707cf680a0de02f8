package trace_test

import (
	"reflect"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
)

func exampleHost() *trace.Host {
	return &trace.Host{
		Facts: []trace.Fact{{Name: "machine", Value: "Linux 6.1, some processor"}, {Name: "links", Value: ""}},
		Files: []trace.File{{File: ariadne.File{Path: "/etc/a b", Use: ariadne.FileStat}, Digest: ariadne.Digest{3}},
			{File: ariadne.File{Path: "/usr", Use: ariadne.FileList}}},
		Lists: []trace.List{{Path: "/spec"},
			{Path: "/spec/a b",
				Entries: []trace.Entry{{Name: "", Kind: "----------"}, {Name: "c d", Kind: "d---------"}}}},
	}
}

func TestHost(t *testing.T) {
	b := trace.FormatHost(exampleHost())
	h, err := trace.ParseHost(b)
	if err != nil || !reflect.DeepEqual(h, exampleHost()) {
		t.Fatalf("%v: %+v", err, h)
	}
	for i := range b {
		bad := append([]byte(nil), b...)
		bad[i] ^= 1
		if _, err := trace.ParseHost(bad); err == nil {
			t.Errorf("byte %d may be %q", i, bad[i])
		}
		if _, err := trace.ParseHost(b[:i]); err == nil {
			t.Errorf("the first %d bytes are taken for all", i)
		}
	}
}

func FuzzParseHost(f *testing.F) {
	f.Add(trace.FormatHost(exampleHost()))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := trace.ParseHost(b); err == nil && string(trace.FormatHost(h)) != string(b) {
			t.Errorf("%q is printed as %q", b, trace.FormatHost(h))
		}
	})
}
