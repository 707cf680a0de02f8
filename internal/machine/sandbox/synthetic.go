package sandbox

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

//go:embed synthetic.txt
var syntheticText string

// synthetic are the entries of synthetic.txt by path.
var synthetic = sync.OnceValue(func() map[string]*entry { return parseSynthetic(syntheticText) })

func parseSynthetic(text string) map[string]*entry {
	m := map[string]*entry{}
	for _, part := range strings.Split("\n"+text, "\n== ")[1:] {
		name, data, _ := strings.Cut(part, "\n")
		if file, target, isLink := strings.Cut(name, " => "); isLink {
			m[file] = newLink(target)
			continue
		}
		if data != "" && !strings.HasSuffix(data, "\n") {
			data += "\n"
		}
		m[name] = newFile(data)
		m[name].mode = 0o444
	}
	return m
}

// devices are the host's device files in the node's /dev. The random ones never
// really give bytes: whoever opens them gets the node's own.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// hidden are the host's top-level directories that a node has its own of.
var hidden = map[string]bool{"proc": true, "sys": true, "dev": true, "run": true, "tmp": true,
	"node": true, "spec": true, ".ariadne": true, "lost+found": true}

// ownDir is Ariadne's own directory, empty and not listed when programs run.
const ownDir = "/.ariadne"

// plan lays out a node's tree. Release must follow.
func plan(cfg Config) (_ *layout, err error) {
	root, err := bindsIn("/")
	if err != nil {
		return nil, err
	}
	for name := range hidden {
		delete(root.kids, name)
	}
	l := &layout{root: root}
	defer func() {
		if err != nil {
			l.release()
		}
	}()
	own := newDir(0o755)
	own.kids["tree"] = newDir(0o755)
	if err := l.put(ownDir, own, false); err != nil {
		return nil, err
	}
	for _, step := range []func(Config) error{l.addStatic, l.addMachine, l.addEtc, l.addOwn} {
		if err := step(cfg); err != nil {
			return nil, err
		}
	}
	return l, l.hideKernels(cfg)
}

// addStatic adds what is the same on every node.
func (l *layout) addStatic(Config) error {
	m := synthetic()
	for _, name := range sortedNames(m) {
		if strings.HasPrefix(name, "/etc/") {
			continue
		}
		if err := l.put(name, m[name], false); err != nil {
			return err
		}
	}
	for _, d := range devices {
		if err := l.put(d, newFile(""), false); err != nil {
			return err
		}
	}
	for _, x := range []struct {
		name string
		e    *entry
	}{
		{"/dev/fd", newLink("/proc/self/fd")}, {"/dev/stdin", newLink("/proc/self/fd/0")},
		{"/dev/stdout", newLink("/proc/self/fd/1")}, {"/dev/stderr", newLink("/proc/self/fd/2")},
		{"/dev/pts", newDir(0o755)}, {"/dev/mqueue", newDir(0o1777)},
	} {
		if err := l.put(x.name, x.e, false); err != nil {
			return err
		}
	}
	return nil
}

// addMachine adds what tells of the node's name and processors.
func (l *layout) addMachine(cfg Config) error {
	cpus := max(cfg.CPUs, 1)
	online := "0\n"
	if cpus > 1 {
		online = fmt.Sprintf("0-%d\n", cpus-1)
	}
	files := map[string]string{
		"/proc/cpuinfo":                          cpuinfo(cpus),
		"/proc/stat":                             procStat(cpus),
		"/proc/meminfo":                          kernel.MemInfo(cfg.memory()),
		"/proc/version":                          kernel.VersionLine() + "\n",
		"/proc/sys/kernel/osrelease":             kernel.OSRelease + "\n",
		"/proc/sys/kernel/tainted":               "0\n",
		"/proc/sys/kernel/version":               kernel.OSVersion + "\n",
		"/proc/sys/kernel/hostname":              cfg.hostName() + "\n",
		"/proc/sys/kernel/domainname":            "(none)\n",
		"/proc/sys/kernel/random/boot_id":        kernel.BootID(cfg.Name, 0),
		"/proc/sys/kernel/random/uuid":           "",
		"/sys/devices/system/cpu/online":         online,
		"/sys/devices/system/cpu/possible":       online,
		"/sys/devices/system/cpu/present":        online,
		"/sys/devices/system/cpu/kernel_max":     "8191\n",
		"/sys/devices/system/node/node0/cpulist": online,
		"/sys/devices/system/node/node0/cpumap":  cpuMask(cpus, 0, cpus),
		"/sys/devices/system/node/node0/meminfo": fmt.Sprintf("Node 0 MemTotal: %d kB\nNode 0 MemFree: %d kB\nNode 0 MemUsed: %[2]d kB\nNode 0 FilePages: 0 kB\n", cfg.memory()/1024, cfg.memory()/2/1024),
		"/sys/fs/cgroup/cpuset.cpus.effective":   online,
		"/sys/class/net/eth0/address":            macAddr(cfg.ID) + "\n",
	}
	for _, name := range kernel.Settings() {
		files["/proc/sys/"+name] = kernel.InitialSetting(name, cfg.memory())
	}
	for i := range cpus {
		dir := fmt.Sprintf("/sys/devices/system/cpu/cpu%d", i)
		files[dir+"/online"] = "1\n"
		for name, data := range topology(i, cpus, online) {
			files[dir+"/topology/"+name] = data
		}
		files[dir+"/cache/index0/coherency_line_size"] = "64\n"
		if m := cfg.Processor; m != nil {
			for name, data := range m.Caches(i, cpus) {
				files[dir+"/cache/"+name] = data
			}
		}
	}
	if m := cfg.Processor; m != nil {
		files["/proc/cpuinfo"] = m.Info(cpus)
	}
	for name, data := range files {
		e := newFile(data)
		e.mode = 0o444
		if err := l.put(name, e, false); err != nil {
			return err
		}
	}
	return nil
}

// topology are the files that say where processor i of so many lies: each is a core of its own, of
// one die in one package.
func topology(i, cpus int, online string) map[string]string {
	files := map[string]string{"core_id": fmt.Sprintln(i), "physical_package_id": "0\n", "die_id": "0\n",
		"cluster_id": "65535\n"}
	for _, name := range []string{"core_cpus", "thread_siblings", "cluster_cpus"} {
		files[name], files[name+"_list"] = cpuMask(cpus, i, i+1), fmt.Sprintln(i)
	}
	for _, name := range []string{"package_cpus", "core_siblings", "die_cpus"} {
		files[name], files[name+"_list"] = cpuMask(cpus, 0, cpus), online
	}
	return files
}

// cpuMask is the set of the processors from a to before b, of so many, as /sys writes it: in words
// of 32 bits, the last one first.
func cpuMask(cpus, a, b int) string {
	words := make([]uint32, (cpus+31)/32)
	for i := a; i < b; i++ {
		words[i/32] |= 1 << (i % 32)
	}
	last := len(words) - 1
	width := (cpus-1)%32/4 + 1
	s := fmt.Sprintf("%0*x", width, words[last])
	for i := last - 1; i >= 0; i-- {
		s += fmt.Sprintf(",%08x", words[i])
	}
	return s + "\n"
}

// addEtc replaces the files of /etc that tell of the network.
func (l *layout) addEtc(cfg Config) error {
	id := sha256.Sum256([]byte("machine " + cfg.Name))
	for _, f := range []struct {
		name, data string
		needed     bool
	}{
		{"/etc/hosts", hostsFile(cfg), true},
		{"/etc/nsswitch.conf", synthetic()["/etc/nsswitch.conf"].data, true},
		{"/etc/resolv.conf", synthetic()["/etc/resolv.conf"].data, false},
		{"/etc/hostname", cfg.hostName() + "\n", false},
		{"/etc/machine-id", fmt.Sprintf("%x\n", id[:16]), false},
	} {
		// Showing /etc entry by entry is dear: only for what must be there.
		if _, err := os.Lstat(f.name); err != nil && !f.needed {
			continue
		}
		if err := l.put(f.name, newFile(f.data), false); err != nil {
			return err
		}
	}
	return nil
}

// Booted are the directories, writable for all, that a machine has made in its memory when it
// starts programs, by the directory that they are in.
var Booted = map[string][]string{"run": {"lock"}}

// addOwn adds the directories that the node may write, and the spec's.
func (l *layout) addOwn(cfg Config) error {
	node := newDir(0o755)
	if cfg.WorkDir != "" {
		e, err := l.copyOf(original(cfg.WorkDir), cfg.Shown)
		if err != nil {
			return err
		}
		e.disown() // files of whoever writes the spec
		node = e
	}
	for _, name := range cfg.Links {
		addLink(node, name, path.Join("/spec", name))
	}
	if cfg.SpecDir != "" {
		l.root.kids["spec"] = &entry{kind: bindEntry, data: cfg.SpecDir, isDir: true}
	}
	run := newDir(0o755)
	for _, name := range Booted["run"] {
		run.kids[name] = newDir(0o1777)
	}
	for _, name := range cfg.Run {
		if err := run.makeDir(name); err != nil {
			return fmt.Errorf("/run/%s: %w", name, err)
		}
	}
	own := []struct {
		name string
		e    *entry
	}{{"/node", node}, {"/tmp", newDir(0o1777)}, {"/run", run}, {"/var/tmp", newDir(0o1777)},
		{"/dev/shm", newDir(0o1777)}}
	for _, w := range cfg.Writable {
		e, err := l.copyOf(original(w), cfg.Shown)
		if os.IsNotExist(err) {
			e, err = newDir(0o755), nil
		}
		if err != nil {
			return err
		}
		if e == nil {
			return fmt.Errorf("%s: neither a file nor a directory", w)
		}
		own = append(own, struct {
			name string
			e    *entry
		}{path.Clean(w), e})
	}
	for _, o := range own {
		if err := l.put(o.name, o.e, true); err != nil {
			return err
		}
	}
	return nil
}

// makeDir makes a directory at a path below a directory, unless one is there.
func (e *entry) makeDir(name string) error {
	for _, part := range strings.Split(name, "/") {
		kid := e.kids[part]
		if kid == nil {
			kid = newDir(0o755)
			e.kids[part] = kid
		}
		if kid.kind != dirEntry {
			return unix.ENOTDIR
		}
		e = kid
	}
	return nil
}

// addLink adds a link at a path below a directory, unless something is there.
func addLink(dir *entry, name, target string) {
	for {
		first, rest, more := strings.Cut(name, "/")
		kid := dir.kids[first]
		switch {
		case !more && kid == nil:
			dir.kids[first] = newLink(target)
			return
		case !more || kid != nil && kid.kind != dirEntry:
			return
		case kid == nil:
			kid = newDir(0o755)
			dir.kids[first] = kid
		}
		dir, name = kid, rest
	}
}

func hostsFile(cfg Config) string {
	s := "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n"
	line := func(a netip.Addr, name string) { s += a.String() + "\t" + name + "\n" }
	for _, h := range cfg.Hosts {
		for _, a := range h.Addrs {
			line(a, h.Name)
		}
	}
	return s
}

func macAddr(id ariadne.NodeID) string {
	a := kernel.EthernetAddr(id)
	return net.HardwareAddr(a[:]).String()
}

func cpuinfo(cpus int) string {
	var s strings.Builder
	for i := range cpus {
		fmt.Fprintf(&s, "processor\t: %d\nvendor_id\t: AuthenticAMD\ncpu family\t: 23\nmodel\t\t: 49\n"+
			"model name\t: Ariadne virtual processor\nstepping\t: 0\nmicrocode\t: 0x1\ncpu MHz\t\t: 2000.000\ncache size\t: 512 KB\n"+
			"physical id\t: 0\nsiblings\t: %d\ncore id\t\t: %d\ncpu cores\t: %d\napicid\t\t: %d\ninitial apicid\t: %d\nfpu\t\t: yes\n"+
			"fpu_exception\t: yes\ncpuid level\t: 13\nwp\t\t: yes\n"+
			"flags\t\t: fpu tsc msr cx8 cmov mmx fxsr sse sse2 ht syscall nx lm constant_tsc rep_good nopl nonstop_tsc pni ssse3 cx16 sse4_1 sse4_2 popcnt\n"+
			"bogomips\t: 4000.00\nclflush size\t: 64\ncache_alignment\t: 64\naddress sizes\t: 48 bits physical, 48 bits virtual\npower management:\n\n",
			i, cpus, i, cpus, i, i)
	}
	return s.String()
}

func procStat(cpus int) string {
	s := "cpu  0 0 0 0 0 0 0 0 0 0\n"
	for i := range cpus {
		s += fmt.Sprintf("cpu%d 0 0 0 0 0 0 0 0 0 0\n", i)
	}
	return s + "intr 0\nctxt 0\nbtime 0\nprocesses 1\nprocs_running 1\nprocs_blocked 0\nsoftirq 0\n"
}
