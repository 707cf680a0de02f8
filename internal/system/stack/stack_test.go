//go:build linux

package stack

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
)

func TestMain(m *testing.M) {
	if IsWorker() {
		Work()
	}
	os.Exit(m.Run())
}

func ext4() *Config {
	return &Config{Components: []Component{
		{Name: "disk", Size: 16 << 20},
		{Name: "ext4", FileSystem: "ext4", On: []string{"disk"},
			Init: []string{"sh", "-c", "mkfs.ext4 -q -b 1024 $ARIADNE_BELOW"}},
	}, Dir: "/", Timeout: 10 * time.Second}
}

func start(t *testing.T, c *Config) *Worker {
	w, err := Start(c, t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func do(t *testing.T, w *Worker, steps ...Step) []Result {
	t.Helper()
	r, err := w.Do(context.Background(), steps, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r {
		if r[i].Failed != "" {
			t.Fatalf("%s: %+v", steps[i].Kind, r[i])
		}
	}
	return r
}

func TestExt4(t *testing.T) {
	w := start(t, ext4())
	disk, err := block.NewDisk(16 << 20)
	if err != nil {
		t.Fatal(err)
	}
	disks := []*block.Disk{disk}
	for _, r := range do(t, w, Step{Kind: Make, Nodes: w.Serve(disks, nil)}, Step{Kind: Unmount}) {
		t.Log(time.Duration(r.Nanos))
	}
	var log Recorder
	base := disk.Clone()
	for _, r := range do(t, w, Step{Kind: Mount, Nodes: w.Serve(disks, &log)},
		Step{Kind: Run, Command: []string{"sh", "-c", "for i in 1 2 3; do echo x > f$i; sync f$i; mv f$i g$i; done; echo promise x > /dev/ariadne; ls -la /dev/ariadne; mount | tail -3"}, Timeout: 5 * time.Second},
		Step{Kind: Unmount}) {
		t.Log(time.Duration(r.Nanos), r.Output)
	}
	ops := log.Ops()
	for _, o := range ops {
		t.Log(o.String())
	}
	walk := block.NewWalk([]*block.Disk{base}, ops, 0)
	n := 0
	began := time.Now()
	seen := map[block.Sum]bool{}
	var sum [3]time.Duration
	for _, p := range block.Points(ops, block.Barriers, nil) {
		walk.To(p)
		point := walk.Images(16, 1)
		for i := range point.Len() {
			disks, s := point.Form(i)
			if seen[s] {
				continue
			}
			seen[s] = true
			nodes := w.Serve(disks, nil)
			for i, r := range do(t, w, Step{Kind: Mount, Nodes: nodes}, Step{Kind: Look}, Step{Kind: Unmount}) {
				sum[i] += time.Duration(r.Nanos)
			}
			w.Drop(nodes)
			n++
		}
	}
	t.Log(n, time.Since(began), float64(n)/time.Since(began).Seconds(), sum)
}
