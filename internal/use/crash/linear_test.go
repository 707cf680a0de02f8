//go:build linux

package crash

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"

	"golang.org/x/sys/unix"
)

// namesLog is what a program does that creates files and renames them. It syncs none, or each and
// the directory, or the directory at the end.
func namesLog(files int, sync string) (log []*disk.Op) {
	add := func(op disk.Op) { log = append(log, &op) }
	const dir = 1
	regular := disk.Attr{Mode: unix.S_IFREG | 0o644}
	for i := range files {
		ino, tmp, name, text := uint64(10+i), fmt.Sprint("tmp", i), fmt.Sprint("file", i), fmt.Append(nil, i)
		add(disk.Op{Kind: disk.Create, Ino: ino, Dir: dir, Name: tmp, Links: 1, Attr: regular, Path: home + "/" + tmp})
		add(disk.Op{Kind: disk.Write, Ino: ino, Length: int64(len(text)), New: text, Size: int64(len(text)),
			Path: home + "/" + tmp})
		if sync == "each" {
			add(disk.Op{Kind: disk.Fsync, Ino: ino, Path: home + "/" + tmp})
		}
		add(disk.Op{Kind: disk.Rename, Ino: ino, Dir: dir, Name: tmp, ToDir: dir, ToName: name, Links: 1, Attr: regular,
			Path: home + "/" + tmp, ToPath: home + "/" + name})
		if sync == "each" || sync == "end" && i == files-1 {
			add(disk.Op{Kind: disk.Fsync, Ino: dir, Path: home})
		}
	}
	return log
}

// writesLog is what a program does that writes a file of so many pages, one after the other, and
// syncs it after each 16 of them, or never.
func writesLog(pages int, sync string) (log []*disk.Op) {
	add := func(op disk.Op) { log = append(log, &op) }
	const page = 4096
	add(disk.Op{Kind: disk.Create, Ino: 10, Dir: 1, Name: "big", Links: 1, Attr: disk.Attr{Mode: unix.S_IFREG | 0o644},
		Path: home + "/big"})
	for i := range pages {
		at := int64(i) * page
		add(disk.Op{Kind: disk.Write, Ino: 10, Offset: at, Length: page,
			New: bytes.Repeat([]byte{byte('a' + i%26)}, page), OldSize: at, Size: at + page, Path: home + "/big"})
		if sync == "each" && i%16 == 15 {
			add(disk.Op{Kind: disk.Fsync, Ino: 10, Path: home + "/big"})
		}
	}
	return log
}

// cost is what it takes to form all images of a log, and to look at them where there is no checker:
// user time, allocations and bytes.
type cost struct{ seconds, allocations, bytes float64 }

func costOf(t testing.TB, log []*disk.Op, m disk.Model, most int) (c cost, images int) {
	// Points are judged by goroutines of their own, which have nothing to do: one processor has all
	// the work.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	runtime.GC()
	var before, after runtime.MemStats
	var began, ended unix.Rusage
	runtime.ReadMemStats(&before)
	unix.Getrusage(unix.RUSAGE_SELF, &began)
	results, err := Judge(t.Context(),
		Options{Log: log, Models: []disk.Model{m}, Images: most, Seed: 1, Workers: 1, Temp: t.TempDir()})
	unix.Getrusage(unix.RUSAGE_SELF, &ended)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		images += r.Images
	}
	used := func(u *unix.Rusage) float64 { return float64(u.Utime.Nano()) / 1e9 }
	return cost{used(&ended) - used(&began), float64(after.Mallocs - before.Mallocs),
		float64(after.TotalAlloc - before.TotalAlloc)}, images
}

// logs are those whose images are to cost as much for each operation, however many there are.
var logs = map[string]func(n int) []*disk.Op{
	"names":            func(n int) []*disk.Op { return namesLog(n, "") },
	"names-end-synced": func(n int) []*disk.Op { return namesLog(n, "end") },
	"names-synced":     func(n int) []*disk.Op { return namesLog(n, "each") },
	"pages":            func(n int) []*disk.Op { return writesLog(n, "") },
	"pages-synced":     func(n int) []*disk.Op { return writesLog(n, "each") },
}

// TestLinear: with eight times as many names, or pages, an image costs about as much. Were all
// looked at again, it would cost eight times as much.
func TestLinear(t *testing.T) {
	const small, large = 100, 8 * 100
	for name, log := range logs {
		for _, m := range []disk.Model{disk.Prefix, disk.Ordered, disk.Any} {
			t.Run(fmt.Sprint(name, " ", m), func(t *testing.T) {
				var time, allocations, bytes float64
				for range 5 { // the time is not exact
					a, few := costOf(t, log(small), m, 4)
					b, many := costOf(t, log(large), m, 4)
					images := float64(many) / float64(few)
					time, allocations, bytes = b.seconds/a.seconds/images, b.allocations/a.allocations/images,
						b.bytes/a.bytes/images
					t.Logf("%d and %d images: each takes %.2f times the time, %.2f times the allocations, %.2f times the bytes", few, many, time, allocations, bytes)
					if time < 3 {
						break
					}
				}
				if time > 3 || allocations > 2 || bytes > 2 {
					t.Errorf("an image of a log that is eight times as long takes %.2f times the time, %.2f times the allocations and %.2f times the bytes", time, allocations, bytes)
				}
			})
		}
	}
}

// TestConsecutiveImagesDiffer: with four times as many names that nobody syncs, one image differs
// from the one before in less than twice as many. So the next one costs little more to put there.
func TestConsecutiveImagesDiffer(t *testing.T) {
	const small, large = 50, 4 * 50
	differ := func(files int) float64 {
		root := draftDirectory()
		root.names[home[1:]] = draftDirectory()
		now := newTree(root)
		walk := disk.NewWalk(disk.Ordered, disk.Choice{Limit: 8, Seed: 1})
		var before *tree
		names, images := 0, 0
		for _, op := range namesLog(files, "") {
			if err := now.apply(op); err != nil {
				t.Fatal(err)
			}
			left := walk.Add(op)
			for n := range left.Lost {
				image, err := now.with(left.Image(n), nil)
				if err != nil {
					t.Fatal(err)
				}
				if before != nil {
					differing(before.find(home).names, image.find(home).names, func(string, *file, *file) { names++ })
				}
				before = image
				images++
			}
		}
		return float64(names) / float64(images)
	}
	few, many := differ(small), differ(large)
	t.Logf("of %d names %.1f differ, of %d %.1f", small, few, large, many)
	if few == 0 || many > 2*few {
		t.Errorf("of %d names %.1f differ from one image to the next, of %d %.1f", small, few, large, many)
	}
}

// BenchmarkForming forms all images of logs of three sizes, and of files of 5 to 40 MB. Each image
// takes about as long.
func BenchmarkForming(b *testing.B) {
	for _, c := range []struct {
		log   string
		sizes []int
	}{
		{"names", []int{100, 1000, 10000}},
		{"names-synced", []int{100, 1000, 10000}},
		{"pages", []int{5 << 8, 10 << 8, 20 << 8, 40 << 8}},
		{"pages-synced", []int{5 << 8, 10 << 8, 20 << 8, 40 << 8}},
	} {
		for _, m := range []disk.Model{disk.Prefix, disk.Ordered, disk.Any} {
			for _, n := range c.sizes {
				log := logs[c.log](n)
				b.Run(fmt.Sprintf("%s/%v/%d", c.log, m, n), func(b *testing.B) {
					seconds, images := 0.0, 0
					for b.Loop() {
						c, formed := costOf(b, log, m, 4)
						seconds, images = seconds+c.seconds, images+formed
					}
					b.ReportMetric(seconds*1e6/float64(images), "µs/image")
					b.ReportMetric(float64(images)/float64(b.N), "images")
				})
			}
		}
	}
}
