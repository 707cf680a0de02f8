package ariadne_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/testing/typed"
)

// house is a package of many files that have an order inside: the functions of a file use
// functions and variables of their own floor and of those below alone. The lowest floor comes
// first. All files stand in it once. Types and their fields are everywhere: the state of a node is
// one value, which is made of parts from all floors.
type house struct {
	// ordered: the files of each floor have an order too, and use those before them alone. So no
	// two files know each other.
	ordered bool
	floors  []floor
}

type floor struct {
	name  string
	files string // without ".go"
}

var houses = map[string]house{
	"internal/machine/node": {floors: []floor{
		{"the node's state, and what a step counts", "node state effort weigh digest program after polling clock home killed"},
		{"memory and calls of real threads", "machine backing fork_advice pages paging mappings attributes"},
		{"files, and copies of the node", "files mapped contents shared private checkpoint inplace adopt moved"},
		{"what a node has seen of the host, its disks and its programs", "asked disk seen sought used site naps reads busy breakpoints locks probe"},
		{"processes, signals, and the end of a call", "image result signal debug instructions process"},
		{"faults", "drift kill jump power down"},
		{"which thread runs, and what becomes of its stop",
			"call seccomp loop repeats settle turns vary function watch"},
		{"the end of a step", "growth ready serve calm boot look output helper"},
		{"the node for others", "apply encode export inspect steppable touched"},
	}},
	"internal/machine/sys": {ordered: true, floors: []floor{
		{"a call, its arguments, and the caller's memory", "mem table args linux descriptor tasks"},
		{"time, waiting, and moving bytes", "times clocks wait transfer"},
		{"files as the node sees them", "owner path show"},
		{"/proc and other virtual files", "procfs_ipc procfs_net procfs_text virtual virtual_stat names"},
		{"what users may do", "permission"},
		{"what follows a change of a file", "ondisk record_mapped record notify weigh changed room stall"},
		{"memory", "sys_vm sys_mempolicy sys_process_madvise sys_seccomp sys_mlock sys_area sys_mmap sys_madvise procfs_mem sys_passed"},
		{"opening", "open_request open_unseen instead open_virtual sys_open"},
		{"processes, time and waiting", "sys_clock sys_time sys_timerfd sys_futex sys_process sys_signal sys_signalfd sys_prctl sys_sched sys_ids sys_info sys_poll sys_epoll sys_random sys_syslog"},
		{"channels", "sys_eventfd sys_pipe sys_mqueue sys_sem sys_msg sys_shm sys_socket sys_socket_cmsg sys_socket_msg sys_socket_opt"},
		{"files", "sys_chroot sys_dir sys_file sys_stat sys_sysfs sys_xattr sys_lock sys_memfd sys_inotify sys_fd sys_tty sys_attr sys_file_time"},
		{"reading and writing", "sys_io sys_splice sys_aio"},
		{"how calls fail, and what they change", "fail fail_memory fail_names fail_net fail_part visible record_calls"},
		{"the table", "calls handle"},
	}},
}

// TestFloors: no function of a package in houses uses one of a floor above its own.
func TestFloors(t *testing.T) {
	var patterns []string
	for dir := range houses {
		patterns = append(patterns, "./"+dir)
	}
	all, err := typed.Load(patterns...)
	if err != nil {
		t.Fatal(err)
	}
	if len(all.All) != len(houses) {
		t.Fatalf("%d packages were read", len(all.All))
	}
	for _, p := range all.All {
		dir, _ := local(p.Types.Path())
		t.Run(dir, func(t *testing.T) {
			for _, c := range upwards(p, houses[dir]) {
				t.Error(c)
			}
		})
	}
}

// upwards says which functions use what stands on a floor above theirs, and which files stand on no
// floor, or on several.
func upwards(p *typed.Package, h house) (complaints []string) {
	fileOf := func(at token.Pos) string { return strings.TrimSuffix(p.File(at), ".go") }
	type stand struct{ floor, place int }
	at := map[string]stand{}
	for i, f := range h.floors {
		for place, file := range strings.Fields(f.files) {
			if _, twice := at[file]; twice {
				complaints = append(complaints, file+".go stands on two floors")
			}
			at[file] = stand{i, place}
		}
	}
	standing := map[string]bool{}
	for _, f := range p.Files {
		name := fileOf(f.Pos())
		standing[name] = true
		if _, ok := at[name]; !ok {
			complaints = append(complaints, name+".go stands on no floor")
		}
	}
	for file := range at {
		if !standing[file] {
			complaints = append(complaints, file+".go stands on a floor, and is no file")
		}
	}
	for id, o := range p.Info.Uses {
		from, to := fileOf(id.Pos()), fileOf(o.Pos())
		if !hasBody(p.Types, o) || !standing[to] {
			continue
		}
		complain := func(why string) {
			complaints = append(complaints,
				fmt.Sprintf("%v: %s.go (%s) uses %s of %s.go (%s), which is %s it", p.Fset.Position(id.Pos()),
					from, h.floors[at[from].floor].name, o.Name(), to, h.floors[at[to].floor].name, why))
		}
		switch {
		case at[to].floor > at[from].floor:
			complain("above")
		case h.ordered && at[to].floor == at[from].floor && at[to].place > at[from].place:
			complain("behind")
		}
	}
	slices.Sort(complaints)
	return complaints
}

// hasBody reports whether an object is a function or method of the package that does something, or
// one of its variables.
func hasBody(pkg *types.Package, o types.Object) bool {
	switch o := o.(type) {
	case *types.Func:
		r := o.Signature().Recv()
		return o.Pkg() == pkg && (r == nil || !types.IsInterface(r.Type()))
	case *types.Var:
		return o.Parent() == pkg.Scope()
	}
	return false
}

// TestUpwards: uses of what is above are found, of functions, of methods and of variables, and in
// order those of what stands behind on the same floor.
func TestUpwards(t *testing.T) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, f := range []struct{ name, text string }{
		{"low.go", "package p\ntype low struct{ high }\nfunc (l *low) up() int { return l.method() + function() + variable + l.field }\nfunc (l *low) down() {}\n"},
		{"high.go", "package p\ntype high struct{ field int }\nfunc (h *high) method() int { (&low{}).down(); return 1 }\nfunc function() int { return 2 }\nvar variable int\n"},
		{"lost.go", "package p\n"},
	} {
		file, err := parser.ParseFile(fset, f.name, f.text, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	p, err := typed.Check("p", fset, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		house
		want []string
	}{
		{"two floors", house{floors: []floor{{"below", "low"}, {"above", "high gone"}}}, []string{
			"gone.go stands on a floor, and is no file",
			"lost.go stands on no floor",
			"low.go:3:35: low.go (below) uses method of high.go (above), which is above it",
			"low.go:3:46: low.go (below) uses function of high.go (above), which is above it",
			"low.go:3:59: low.go (below) uses variable of high.go (above), which is above it",
		}},
		{"one floor", house{floors: []floor{{"all", "low high lost"}}}, nil},
		{"one floor in order", house{true, []floor{{"all", "high low lost"}}}, []string{
			"high.go:3:40: high.go (all) uses down of low.go (all), which is behind it",
		}},
		{"twice", house{floors: []floor{{"all", "low high lost"}, {"again", "high"}}}, []string{
			"high.go stands on two floors",
			"low.go:3:35: low.go (all) uses method of high.go (again), which is above it",
			"low.go:3:46: low.go (all) uses function of high.go (again), which is above it",
			"low.go:3:59: low.go (all) uses variable of high.go (again), which is above it",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := upwards(p, c.house); !slices.Equal(got, c.want) {
				t.Errorf("%s", strings.Join(got, "\n"))
			}
		})
	}
}
