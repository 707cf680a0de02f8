package config

import "testing"

func TestPatterns(t *testing.T) {
	f := Fail{Paths: []string{"/node/wal/*", "*.log"}}
	for file, want := range map[string]bool{"/node/wal/1": true, "/node/wal/a/1": false, "/x/y.log": true,
		"/x/log": false, "": false} {
		if f.On(file) != want {
			t.Errorf("calls on %q: %v", file, !want)
		}
		if s := (Stall{Paths: f.Paths}); s.On(file) != (want || file == "") {
			t.Errorf("syncs of %q: %v", file, want)
		}
	}
	k := Kill{Programs: []string{"postgres", "redis-*#2"}}
	for name, want := range map[string]bool{"postgres#1": true, "postgres#7": true, "redis-server#2": true,
		"redis-server#1": false} {
		if k.Of(name) != want {
			t.Errorf("kill of %s: %v", name, !want)
		}
	}
}
