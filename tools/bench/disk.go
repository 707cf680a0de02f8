package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/ariadne-mc/ariadne/internal/use/disk"
)

// stacks are file systems on which losses of power are tried, on one processor. The images are
// those of workloads of one operation.
var stacks = []struct {
	name, program string
	layers        string
	images        int
}{
	{"ext2", "mkfs.ext2", "[{device: 16MB}, {filesystem: ext2, mkfs: -b 1024}]", 64},
	{"ext4", "mkfs.ext4", "[{device: 16MB}, {filesystem: ext4, mkfs: -b 1024}]", 64},
	{"ext4_fsck", "mkfs.ext4", "[{device: 16MB}, {filesystem: ext4, mkfs: -b 1024, fsck: true}]", 64},
	{"xfs", "mkfs.xfs", "[{device: 300MB}, {filesystem: xfs}]", 12},
	{"btrfs", "mkfs.btrfs", "[{device: 109MB}, {filesystem: btrfs}]", 12},
}

// measureDisk measures on how many images a second a file system of the kernel recovers: formed,
// mounted, read and unmounted, on one processor.
func (b *bench) measureDisk() error {
	if err := disk.Able(); err != nil {
		b.missing = append(b.missing, fmt.Sprintf("disk_images_per_s: %v", err))
		return nil
	}
	free, err := onOneProcessor()
	if err != nil {
		return err
	}
	defer free()
	for _, s := range stacks {
		if _, err := exec.LookPath(s.program); err != nil {
			b.missing = append(b.missing, fmt.Sprintf("disk_images_per_s.%s: %v", s.name, err))
			continue
		}
		spec := filepath.Join(b.dir, s.name+".yaml")
		text := fmt.Sprintf("stack: %s\nimages: %d\nfiles: {}\n", s.layers, s.images)
		if err := os.WriteFile(spec, []byte(text), 0o644); err != nil {
			return err
		}
		rates, err := b.repeated(func() (float64, error) {
			out, err := b.command(b.ariadne.Binary, "disk", "--json", "--time", b.budget.String(), spec).Output()
			if err != nil {
				return 0, err
			}
			var r disk.Report
			if err := json.Unmarshal(out, &r); err != nil {
				return 0, err
			}
			return float64(r.Checked) / r.Judging.Seconds(), nil
		})
		if err != nil {
			return err
		}
		b.keep("disk_images_per_s."+s.name, "1/s", rates)
	}
	return nil
}
