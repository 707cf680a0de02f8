//go:build linux

package node

import (
	"go/types"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/testing/typed"
)

// rooms are the types of which only some files use the fields, and fields of larger ones. All
// others ask by methods. Fields in no room are in common.
var rooms = map[string][]string{
	"effort":      {"effort.go", "loop.go"},
	"scheduling":  {"turns.go"},
	"pace":        {"clock.go", "settle.go"},
	"asking":      {"polling.go"},
	"polling":     {"polling.go"},
	"clockReads":  {"reads.go"},
	"learnt":      {"asked.go", "seen.go", "used.go"},
	"fate":        {"after.go", "disk.go", "down.go", "effort.go", "power.go"},
	"lossPoint":   {"down.go", "power.go"},
	"otherwise":   {"power.go"},
	"loss":        {"power.go"},
	"commands":    {"boot.go"},
	"quiet":       {"calm.go"},
	"exposing":    {"growth.go", "look.go", "serve.go"},
	"growth":      {"growth.go"},
	"trend":       {"growth.go"},
	"mappedFiles": {"mapped.go"},
	"offset":      {"files.go"},
	"place":       {"busy.go", "files.go", "seen.go"},
	"diskView":    {"disk.go"},
	"held":        {"disk.go"},
	"drift":       {"drift.go"},
	"stream":      {"digest.go"},
	"memoryHash":  {"digest.go"},
	"layout":      {"backing.go"},
	"contents":    {"contents.go"},
	"paging":      {"inplace.go", "paging.go"},
	"paged":       {"inplace.go", "mappings.go", "paging.go"},
	"fork":        {"checkpoint.go", "inplace.go", "mappings.go", "paging.go"},
	"extras":      {"mappings.go"},
	"forks":       {"adopt.go", "checkpoint.go", "inplace.go", "paging.go"},
	"origin":      {"adopt.go"},
	"pairing":     {"adopt.go"},
	"movedPages":  {"moved.go"},
	"movedPage":   {"moved.go"},
	"ways":        {"vary.go"},
	"probing":     {"look.go", "probe.go"},
	"probed":      {"probe.go"},
	"sought":      {"sought.go"},
	"hostView":    {"asked.go", "seen.go"},

	"hostView.sought": {"sought.go"},
	"hostView.root": {"asked.go", "busy.go", "disk.go", "files.go", "home.go", "look.go", "process.go", "seen.go",
		"sought.go"},
	"versions.offsets": {"files.go"},
	"versions.shared":  {"shared.go"},
	"versions.orphans": {"shared.go"},
	"versions.files":   {"adopt.go", "disk.go", "down.go", "files.go", "inspect.go", "power.go"},
	"state.lost":       {"kill.go"},
	"state.polled":     {"apply.go", "down.go", "polling.go"},
	"state.disk":       {"asked.go", "disk.go", "down.go", "power.go"},
	"setup.outages":    {"apply.go", "down.go"},
	"setup.ahead":      {"node.go", "power.go"},
	"setup.failing":    {"apply.go", "call.go", "image.go", "vary.go"},
	"setup.functions":  {"apply.go", "breakpoints.go", "function.go"},
	"setup.probing":    {"apply.go", "breakpoints.go", "look.go", "probe.go"},
	"setup.stalls":     {"apply.go", "vary.go"},
	"setup.joins":      {"apply.go", "process.go"},
	"home.area":        {"home.go", "image.go"},
	"home.areaFD":      {"home.go", "image.go"},
	"home.contents":    {"inplace.go", "moved.go", "shared.go"},
	"home.sharer":      {"inplace.go", "shared.go"},
	"home.holds":       {"inplace.go", "shared.go"},
	"home.device":      {"private.go"},
	"home.disk":        {"disk.go"},
	"home.following":   {"inplace.go"},
	"home.growsDown":   {"paging.go"},
	"home.fixed":       {"adopt.go", "files.go"},
	"following":        {"inplace.go"},
	"home.spaces":      {"home.go", "process.go"},
	"home.told":        {"apply.go", "asked.go"},
	"home.used":        {"attributes.go", "clock.go", "home.go", "machine.go"},
	"Node.held":        {"mapped.go"},
	"Node.layout":      {"backing.go", "call.go", "inplace.go", "machine.go"},
	"step.readPlaces":  {"down.go"},
	"Node.reads":       {"clock.go", "reads.go"},
	"Node.debugging":   {"inspect.go", "loop.go", "process.go", "steppable.go"},
	"debugging":        {"debug.go", "steppable.go"},
	"instructions":     {"instructions.go", "steppable.go"},
	"Node.watching":    {"watch.go", "signal.go"},
	"effected":         {"watch.go"},
	"Node.paging": {"apply.go", "breakpoints.go", "call.go", "checkpoint.go", "files.go", "inplace.go",
		"locks.go", "machine.go", "paging.go", "process.go"},
}

// common are fields that any file may use, by type.
var common = map[string][]string{
	"Node":  {"home", "setup", "state", "step", "threads", "watch"},
	"setup": {"cfg"},
	"state": {"k", "commands", "exposing", "quiet", "versions"},
	"step": {"asking", "course", "cut", "cutAt", "diverged", "effort", "fate", "learnt", "memory", "pace",
		"scheduling", "stream", "trace", "unreplayable"},
	"home": {"clock", "shows", "tree", "treeFD", "users", "view"},
}

// TestRooms: each field of a node, its state, its steps and what its copies share is in a room,
// which the files of the room alone use, or is said to be in common.
func TestRooms(t *testing.T) {
	all, err := typed.Load(".")
	if err != nil {
		t.Fatal(err)
	}
	p := all.All[0]
	room := map[types.Object]string{}
	for _, name := range p.Types.Scope().Names() {
		s, ok := p.Types.Scope().Lookup(name).Type().Underlying().(*types.Struct)
		if !ok {
			continue
		}
		for i := range s.NumFields() {
			of := name + "." + s.Field(i).Name()
			if rooms[of] == nil && rooms[name] != nil {
				of = name
			}
			switch {
			case rooms[of] != nil:
				room[s.Field(i)] = of
			case common[name] == nil:
			case !slices.Contains(common[name], s.Field(i).Name()):
				t.Errorf("%s is in no room, nor is it said to be in common", of)
			}
		}
	}
	used, outside := map[string]map[string]bool{}, map[string]bool{}
	for id, o := range p.Info.Uses {
		of := room[o]
		if of == "" {
			continue
		}
		file := p.File(id.Pos())
		if used[of] == nil {
			used[of] = map[string]bool{}
		}
		used[of][file] = true
		if complaint := file + " uses " + o.Name() + " of " + of; !slices.Contains(rooms[of], file) &&
			!outside[complaint] {
			outside[complaint] = true
			t.Error(complaint + ", which is not its")
		}
	}
	for of, list := range rooms {
		for _, file := range list {
			if !used[of][file] {
				t.Errorf("%s may use %s and does not", file, of)
			}
		}
		if len(list) > len(p.Files)/4 {
			t.Errorf("%s is used by %d files: it is no room", of, len(list))
		}
	}
}
