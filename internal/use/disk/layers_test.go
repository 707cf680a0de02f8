//go:build linux

package disk

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// joinedStack is ext4 on two devices that are joined. raid is the rest of the layer that joins
// them, and first and second of the devices.
func joinedStack(raid, first, second string) string {
	return `
stack:
- {name: a, device: 8MB` + first + `}
- {name: b, device: 8MB` + second + `}
- {name: raid, on: [a, b], ` + raid + `}
- {name: ext4, filesystem: ext4, mkfs: -b 1024}
checker:
  mutate: 'for i in 1 2; do echo text > note$i; sync note$i .; echo promise note$i > /dev/ariadne; done'
  check: 'for n in $ARIADNE_PROMISES; do grep -qs text $n || { echo $n is lost; exit 1; }; done'
images: 12
`
}

// TestJoins: a file system on a mirror or stripe keeps what is synced, unless flushes do not reach
// a device whose content counts. A layer is blamed if the stack does not fail without it.
func TestJoins(t *testing.T) {
	able(t, "mkfs.ext4")
	const lies = ", lies: true"
	for _, c := range []struct {
		raid, first, second string
		fails               bool
		blamed              []string
	}{
		{raid: "mirror: true"},
		{raid: "stripe: 64KB"},
		{raid: "mirror: true", second: lies},
		{raid: "mirror: true", first: lies, fails: true},
		{raid: "stripe: 64KB" + lies, fails: true, blamed: []string{"raid"}},
		{raid: "mirror: true" + lies, fails: true, blamed: []string{"raid"}},
	} {
		r := check(t, Options{Spec: parse(t, joinedStack(c.raid, c.first, c.second))})
		text := printed(r)
		if c.fails != (r.Failed > 0) || c.fails != (len(r.Without) == 1) || r.Undecided > 0 {
			t.Errorf("%+v: %s", c, text)
			continue
		}
		for _, g := range r.Groups {
			if !slices.Equal(g.Blamed, c.blamed) {
				t.Errorf("%+v: blamed %v\n%s", c, g.Blamed, text)
			}
		}
		if c.blamed != nil && !strings.Contains(text, "without the layer raid, no image fails in this way") {
			t.Errorf("%+v: the report does not name the layer:\n%s", c, text)
		}
	}
}

// TestWriteHole: a RAID5 of which a device fails with the power loses what was synced: the parity
// of a row that was being written is wrong, and with it the content of another chunk. Without such
// a failure nothing is lost, and without the RAID5 neither.
func TestWriteHole(t *testing.T) {
	able(t, "mkfs.ext4")
	for fails, lost := range map[string]bool{"": false, ", fails: b": true} {
		r := check(t, Options{Spec: parse(t, `
stack:
- {name: a, device: 16MB}
- {name: b, device: 16MB}
- {name: c, device: 16MB}
- {name: raid, raid5: 4KB, on: [a, b, c]`+fails+`}
- {name: ext4, filesystem: ext4, mkfs: -b 1024}
images: 16
files: {without: [creat, mkdir, link, unlink, rmdir, rename, truncate, sync write, sync]}
`)})
		if lost != (r.Failed > 0) || r.Undecided > 0 || lost != (len(r.Without) == 1) {
			t.Fatalf("fails: %q: %s", fails, printed(r))
		}
		if lost && (r.Without[0].Failed > 0 || !slices.Equal(r.Groups[0].Blamed, []string{"raid"})) {
			t.Error(printed(r))
		}
	}
}

// TestLiesBelow: of a stripe with a device that lies, the device that takes its place lies, too.
func TestLiesBelow(t *testing.T) {
	able(t, "mkfs.ext4")
	r := check(t, Options{Spec: parse(t, joinedStack("stripe: 4KB", "", ", lies: true"))})
	if r.Failed == 0 || len(r.Without) != 1 || r.Without[0].Failed == 0 {
		t.Errorf("the stack fails only with the stripe:\n%s", printed(r))
	}
}

// TestWithout: a layer of commands on a directory gives way to that directory, and no other layer
// but a mirror or stripe can be left out.
func TestWithout(t *testing.T) {
	s := parse(t, joinedStack("stripe: 64KB", "", ""))
	two := *s
	two.Components = append(slices.Clone(s.Components), s.Components[3], s.Components[3])
	two.Components[4].Name, two.Components[4].FileSystem, two.Components[4].On = "over", "", []string{"ext4"}
	two.Components[5].Name, two.Components[5].FileSystem, two.Components[5].On = "top", "", []string{"over"}
	for name, want := range map[string]string{"a": "", "b": "", "ext4": "", "raid": "a() ext4(a) over(ext4) top(over)",
		"over": "a() b() raid(a b) ext4(raid) top(ext4)", "top": "a() b() raid(a b) ext4(raid) over(ext4)"} {
		var got []string
		if o := two.without(name); o != nil {
			for _, c := range o.Components {
				got = append(got, c.Name+"("+strings.Join(c.On, " ")+")")
			}
			if name == "raid" && o.Components[0].Size != 16<<20 {
				t.Errorf("in the place of the stripe is a device of %d bytes", o.Components[0].Size)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("without %s: %q, and should be %q", name, got, want)
		}
	}
}

// TestWrongJoins: specs with mirrors and stripes that cannot be are refused.
func TestWrongJoins(t *testing.T) {
	const top = "\nfiles: {rule: in_order}\n"
	for want, layers := range map[string]string{
		"names 2 devices or more":   "{device: 8MB, name: a}, {mirror: true, on: [a]}",
		"there is no device \"fs\"": "{device: 8MB, name: a}, {device: 8MB, name: b}, {name: fs, mount: 'true'}, {mirror: true, on: [a, fs]}",
		"named twice":               "{device: 8MB, name: a}, {mirror: true, on: [a, a]}",
		"is a part of \"fs\"":       "{device: 8MB, name: a}, {device: 8MB, name: b}, {name: fs, mount: 'true', on: [a]}, {mirror: true, on: [a, b]}",
		"is a part of \"raid\"":     "{device: 8MB, name: a}, {device: 8MB, name: b}, {name: raid, mirror: true, on: [a, b]}, {name: fs, mount: 'true', on: [a]}",
		"is not a multiple of":      "{device: 8MB, name: a}, {device: 8MB, name: b}, {stripe: 2KB, on: [a, b]}",
		"or more than the device":   "{device: 8MB, name: a}, {device: 8MB, name: b}, {stripe: 16MB, on: [a, b]}",
		"is no size of a chunk":     "{device: 8MB, name: a}, {device: 8MB, name: b}, {stripe: much, on: [a, b]}",
		"and nothing else":          "{device: 8MB, name: a}, {device: 8MB, name: b}, {mirror: true, stripe: 64KB, on: [a, b]}",
		"the last layer is a dev":   "{device: 8MB, name: a}, {device: 8MB, name: b}, {mirror: true, on: [a, b]}",
		"names 3 devices or more":   "{device: 8MB, name: a}, {device: 8MB, name: b}, {raid5: 64KB, on: [a, b]}",
		"is none of those of on":    "{device: 8MB, name: a}, {device: 8MB, name: b}, {device: 8MB, name: c}, {raid5: 64KB, on: [a, b, c], fails: d}",
		"a stripe has a name":       "{device: 8MB, name: a}, {device: 8MB, name: b}, {stripe: 64KB, on: [a, b], fails: a}",
		"only a raid5 has":          "{device: 8MB, name: a}, {filesystem: ext4, fails: a}",
		"more than 1024GB":          "{device: 1025GB, name: a}",
		"needs a device of 300 MB":  "{device: 150MB, name: a}, {device: 149MB, name: b}, {stripe: 64KB, on: [a, b]}, {filesystem: xfs}",
	} {
		_, err := Parse("test.yaml", []byte("stack: ["+layers+"]"+top))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, and should contain %q", err, want)
		}
	}
}

// TestInterruptedGroup: a group has an example also when an interrupt comes before it is smaller.
func TestInterruptedGroup(t *testing.T) {
	able(t, "mkfs.ext4")
	j := &judge{Options: Options{Spec: parse(t, joinedStack("mirror: true", "", "")), Workers: 1, Temp: t.TempDir()},
		Report: &Report{}, groups: map[string]*Group{}, signatures: map[string]signed{}}
	j.subject = commands{j.Options.Spec}
	defer j.close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := errors.Join(j.start(), j.prepare(ctx)); err != nil {
		t.Fatal(err)
	}
	e, err := j.execute(ctx, j.subject.plans().next())
	if err != nil {
		t.Fatal(err)
	}
	r := &round{j: j, e: e, known: map[imageKey]*outcome{}, base: e.base, log: e.log}
	for at := len(r.log); at > 0; at-- {
		im := &image{at: at, epoch: epochAt(r.log, at), result: &outcome{}}
		p := r.pointOf(im)
		if len(p.Lost(0)) == 0 {
			continue // there is nothing to put back
		}
		cancel()
		if err := r.blame(ctx, im, p, "it is wrong"); !Interrupted(err) {
			t.Fatal(err)
		}
		if j.finish(); len(j.Report.Groups) != 1 || j.Report.Groups[0].Example == nil {
			t.Errorf("%+v", j.Report.Groups)
		}
		return
	}
	t.Fatal("no request can be lost")
}
