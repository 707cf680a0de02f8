package sandbox

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// kernelFS are the file systems that show the state of the host's kernel or processes, or
// do something when they are touched.
var kernelFS = []string{"proc", "sysfs", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs", "selinuxfs", "bpf",
	"devpts",
	"devtmpfs", "mqueue", "configfs", "fusectl", "pstore", "efivarfs", "binfmt_misc", "nsfs", "autofs", "rpc_pipefs",
	"nfsd", "resctrl"}

// hideKernels puts something empty over each of the host's that lies in what the node is
// shown: the /proc of a chroot, say. Those at their usual places are not shown at all.
func (l *layout) hideKernels(cfg Config) error {
	points, err := kernelMounts()
	if err != nil {
		return err
	}
	spec := cfg.SpecDir
	if real, err := filepath.EvalSymlinks(spec); err == nil {
		spec = real
	}
	for _, point := range points {
		places := []string{}
		if top, _, _ := strings.Cut(point[1:], "/"); !hidden[top] {
			places = append(places, point)
		}
		if rel, err := filepath.Rel(spec, point); spec != "" && err == nil && rel != "." && filepath.IsLocal(rel) {
			places = append(places, "/spec/"+rel)
		}
		for _, place := range places {
			e := newFile("")
			if st, err := os.Lstat(point); err != nil {
				continue // nor can the node get there
			} else if st.IsDir() {
				e = newDir(0o555)
			}
			if err := l.put(place, e, false); err != nil && !errors.Is(err, unix.EACCES) {
				return err
			}
		}
	}
	return nil
}

// kernelMounts are the places at which such file systems are mounted, outermost first.
func kernelMounts() (points []string, err error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		left, right, _ := strings.Cut(s.Text(), " - ")
		l, kind := strings.Fields(left), strings.Fields(right)
		if len(l) < 5 || len(kind) == 0 || !slices.Contains(kernelFS, kind[0]) {
			continue
		}
		point := unescape(l[4])
		if inside := func(p string) bool {
			return strings.HasPrefix(point+"/", p+"/")
		}; !slices.ContainsFunc(points, inside) {
			points = append(points, point)
		}
	}
	return points, s.Err()
}

// unescape undoes what mountinfo does to blanks (proc(5)).
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(v))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
