//go:build linux

package node

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/system/machines"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// TestFreezeAndThawAtEveryStep: a node goes on from a checkpoint as it went on itself: each step's
// digest covers every call, message and log line.
func TestFreezeAndThawAtEveryStep(t *testing.T) {
	for _, args := range [][]string{
		{"/bin/sh", "-c", "for i in 1 2 3; do sleep $i; echo $i | tr 1-3 a-c; done; exit 3"},
		{"/bin/sh", "-c", "exec 3>log; for i in 1 2 3 4; do sleep 1; echo $i >>log; echo line $i >&3; mkdir -p d$((i%2)); mv d0 e$i 2>/dev/null; echo $i >d1/f; rm -f x$((i-1)); echo >x$i; cat log d1/f; ls; done"},
		{"/bin/sh", "-c", "mkdir d e; echo x >d/f; ln -s d l; cd e; sleep 1; stat -c '%i %h %Y' ../d ../l .; ls ../d ../l/; echo 1 >g; sleep 1; ls; cd ..; rm -r d e l; sleep 1; mkdir d; sleep 1; ls -id d"},
		{"/usr/bin/python3", "-c", "import os,time,mmap\nf=open('a','w+b');os.unlink('a');f.write(b'0'*9000);f.flush();m=mmap.mmap(f.fileno(),9000)\nfor i in range(5):\n  time.sleep(1);m[i]=65+i;f.seek(0);print(f.read(8));f.seek(4);f.write(b'z%d'%i);f.flush();print(os.fstat(f.fileno()).st_nlink)\n"},
		{"/usr/bin/python3", "-c", "import os,time,mmap\nm=mmap.mmap(-1,40960)\nif os.fork()==0:\n  for i in range(4):\n    time.sleep(1);m[i*9000]=m[i*9000+1]+70;m[0]=m[0]+1\n  os._exit(0)\ntime.sleep(.5)\nfor i in range(5):\n  time.sleep(1);print([m[j*9000] for j in range(4)]);m[1]=m[1]+1\n"},
		{"/usr/bin/python3", "-c", "import ctypes,time\nl=ctypes.CDLL(None);l.shmat.restype=ctypes.c_void_p\nfor i in range(3):\n  time.sleep(1);id=l.shmget(77,4096,0o3600);a=ctypes.c_void_p(l.shmat(id,None,0));s=ctypes.cast(a,ctypes.POINTER(ctypes.c_int));print(id,s[0]);s[0]=i+1;time.sleep(1);print(l.shmget(77,0,0),s[0]);print(l.shmctl(id,0,None),l.shmdt(a))\n"},
		// Modes that deny the owner: they bind an ordinary user's Ariadne, not the node's root.
		{"/bin/sh", "-c", "umask 0; exec 3>a; chmod 444 a; exec 4<>b; chmod 0 b; rm b; mkdir d; echo x >d/f; chmod 555 d; for i in 1 2 3; do sleep 1; echo $i >&3; echo $i >&4; cat a d/f; echo $i >d/g$i; rm -f d/g$((i-1)); mkdir -m 0 d/e$i; ls -l d; rmdir d/e$i; cat /proc/self/fd/4; chmod 1$((i+3))0 d; done; ls -ld d"},
		{"/usr/bin/python3", "-c", "import os,time\nos.mkdir('j');os.mkdir('j/d')\nos.chroot('j');os.chdir('/d')\nfor i in range(3):\n  time.sleep(1);open('/f','a').write(str(i));print(open('../f').read(),os.getcwd(),os.listdir('/'));os.rename('/f','/g%d'%i);os.link('/g%d'%i,'/f')\n"},
		{"/usr/bin/python3", "-c", "import os,pty,time\npid,fd=pty.fork()\nif pid==0:\n  for i in range(3): print(input(),os.ttyname(0),flush=True)\n  os._exit(0)\nfor i in range(3):\n  time.sleep(1);os.write(fd,b'ab\\x7fc%d'%i);time.sleep(1);os.write(fd,b'\\n');time.sleep(1);print(os.read(fd,99))\n"},
		// What its own children do not get or find wiped, its copies have.
		{"/usr/bin/python3", "-c", "import os,time,mmap\nm=[mmap.mmap(-1,8192,34) for i in '123']\nfor x in m: x[0]=65\nm[0].madvise(mmap.MADV_DONTFORK);m[1].madvise(18)\nfor i in range(3):\n  time.sleep(1);print([x[0] for x in m])\n  if os.fork()==0: time.sleep(1);print(m[1][0],m[2][0]);os._exit(0)\n  m[0][0]=m[1][0]=m[0][0]+1;os.wait()\n"},
		// One of two threads has a filter, and its child; calls that else run without a stop stop
		// in copies too.
		{"/usr/bin/python3", "-c", "import ctypes,os,struct,threading,time\nl=ctypes.CDLL(None,use_errno=True);l.prctl(38,1,0,0,0)\ndef put(nr,e):\n  b=ctypes.create_string_buffer(b''.join(struct.pack('HBBI',*i) for i in [(32,0,0,0),(21,0,1,nr),(6,0,0,0x50000|e),(6,0,0,0x7fff0000)]));return l.prctl(22,2,struct.pack('HxxxxxxQ',4,ctypes.addressof(b)))\ndef ask(i): b=ctypes.create_string_buffer(99);return i,l.getppid(),ctypes.get_errno(),l.syscall(79,b,99),ctypes.get_errno(),[x.split()[1] for x in open('/proc/thread-self/status') if 'Secc' in x]\ndef two():\n  print(put(110,7))\n  for i in range(4):\n    time.sleep(1);print(ask(i),flush=True)\n    if i==1: print(put(79,9))\n    if i==2 and os.fork()==0: time.sleep(.7);print('child',ask(i),flush=True);os._exit(0)\nthreading.Thread(target=two).start()\nfor i in range(5): time.sleep(.9);print('first',ask(i),flush=True)\n"},
		{"/bin/sh", "-c", "cp /bin/sleep p; ./p 1; ./p 1; sleep 1; rm p; ls"},
		// Only mappings lead to these: a memory file, and one that loses its name when checkpoints
		// exist.
		{"/usr/bin/python3", "-c", mapOnly + "fd=l.memfd_create(b'm',0);os.ftruncate(fd,40960);m=mapped(fd,1);os.close(fd)\nfor i in range(4):\n  time.sleep(1);print(m[0],m[9000]);m[0]+=1;m[9000]=i+5\n"},
		{"/usr/bin/python3", "-c", mapOnly + "fd=os.open('a',os.O_RDWR|os.O_CREAT);os.ftruncate(fd,40960);m=mapped(fd,1);os.close(fd)\nfor i in range(5):\n  time.sleep(1);print(m[0],m[9000]);m[0]+=1;m[9000]=i+5\n  if i==1: os.unlink('a')\n"},
		{"/usr/bin/python3", "-c", mapOnly + "fd=os.open('a',os.O_RDWR|os.O_CREAT);os.ftruncate(fd,40960);m=mapped(fd,1);os.close(fd);os.unlink('a')\nfor i in range(4):\n  time.sleep(1);print(m[0],m[9000]);m[0]+=1;m[9000]=i+5\n"},
		// A mapping becomes writable when checkpoints exist.
		{"/usr/bin/python3", "-c", "import ctypes,os,time\nl=ctypes.CDLL(None);l.mmap.restype=ctypes.c_void_p\nfd=os.open('a',os.O_RDWR|os.O_CREAT);os.ftruncate(fd,8192);m=l.mmap(None,8192,1,1,fd,0)\nfor i in range(6):\n  time.sleep(1);print(ctypes.string_at(m,2),os.pread(fd,2,0))\n  if i==2: print(l.mprotect(ctypes.c_void_p(m),8192,3))\n  if i>=2: ctypes.memset(m,65+i,1)\n  else: os.pwrite(fd,b'%d'%i,1)\n"},
		// What a copy has changed in a private mapping is its own, whatever becomes of the file.
		{"/usr/bin/python3", "-c", mapOnly + "time.sleep(1);open('a','wb').write(b'x'*40960);fd=os.open('a',os.O_RDWR);m=mapped(fd,2);os.close(fd)\nfor i in range(4):\n  print(m[0],m[9000],m[20000]);m[0]=i+1;m[9000]=i+5;time.sleep(1)\n"},
		// Events that wait, a watch of a directory that is removed and comes back, an open file
		// without a name.
		{"/usr/bin/python3", "-c", "import ctypes,os,time\nl=ctypes.CDLL(None);i=l.inotify_init1(2048);os.mkdir('d');print(l.inotify_add_watch(i,b'd',4095))\nf=open('d/f','w',0);print(l.inotify_add_watch(i,b'd/f',4095))\nfor k in range(6):\n  time.sleep(1);f.write('x');os.rename('d/f','d/g') if k==1 else 0;os.unlink('d/g') if k==3 else 0\n  if k%2: print(os.read(i,4096))\nf.close();os.rmdir('d');time.sleep(1);print(os.read(i,4096));os.mkdir('d');time.sleep(1);print(l.inotify_add_watch(i,b'd',4095))\n"},
		// A full queue, a receiver that waits, a wish to be told.
		{"/usr/bin/python3", "-c", "import ctypes,os,signal,time\nl=ctypes.CDLL(None);a=(ctypes.c_long*8)(0,2,16);q=l.mq_open(b'/q',0o102,0o600,a);l.mq_unlink(b'/q')\ndef get(): b=ctypes.create_string_buffer(16);p=ctypes.c_uint();return l.mq_receive(q,b,16,ctypes.byref(p)),b.value,p.value\nif os.fork()==0:\n  for i in range(6): print(get(),flush=True);time.sleep(.7*i)\n  os._exit(0)\nfor i in range(6): time.sleep(.5);print(l.mq_send(q,b'm%d'%i,2,i%3),flush=True)\nos.wait();signal.signal(10,lambda *a:print('told',flush=True));print(l.mq_notify(q,(ctypes.c_int*16)(0,0,10,0)));time.sleep(1);l.mq_send(q,b'z',1,1);time.sleep(1);print(get())\n"},
		// Ariadne's own pages hold nothing of other copies, though a program can write there, nor
		// of the host.
		{"/usr/bin/python3", "-c", "import ctypes,os,time\nm=(ctypes.c_ubyte*0x6000).from_address(0x7ffffa000000)\nfor i in range(5):\n  print([(k,m[k]) for k in [*range(64,0x1000),*range(0x3000,0x6000)] if m[k]])\n  m[0xff0]=m[0x3ff0]=m[0x5ff0]=i+1;os.stat('/etc/passwd');time.sleep(1)\n  ctypes.CDLL(None).write(1,ctypes.c_void_p(0x7ffffa003000),16)\n"},
		// A name that is gone and comes back leads to the file that is open, one that was opened
		// for nothing writes none.
		{"/bin/sh", "-c", "exec 3>f 4>g; for i in 1 2; do sleep 1; readlink /proc/$$/fd/3 /proc/$$/fd/4; done; rm f; sleep 1; readlink /proc/$$/fd/3; mv g h; sleep 1; readlink /proc/$$/fd/4; rm h; sleep 1; readlink /proc/$$/fd/4"},
		{"/usr/bin/python3", "-c", "import mmap,os,time\nf=open('f','w+b');f.write(b'x');f.flush();m=mmap.mmap(f.fileno(),1)\nfor i in range(4):\n  time.sleep(1);print([l.split(None,5)[5] for l in open('/proc/self/maps') if '/f' in l])\n  if i==2: os.unlink('f')\n"},
		{"/usr/bin/python3", "-c", "import os,time\nf=os.open('/etc/hostname',3)\nfor i in range(3):\n  time.sleep(1)\n  try: os.write(f,b'x')\n  except OSError as e: print(e)\n"},
		{"/usr/bin/python3", "-c", "import threading,time\nfor i in range(3):\n  threading.Timer(i+0.5,print,(i,)).start()\n"},
		// It never waits in a call; what it asks for last is a file's.
		{"/usr/bin/python3", "-c", "import select,socket,time\ns=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);s.bind(('',7));s.setblocking(False);f=open('/etc/hostname','rb',0)\np=select.poll();p.register(s,1)\nend=time.monotonic()+.01\nn=0\nwhile time.monotonic()<end:\n  n+=len(p.poll(0))+len(f.read(9))\n  f.seek(0)\n  try: s.recv(9)\n  except BlockingIOError: pass\nprint(n>1000)\n"},
	} {
		freezeAndThaw(t, args)
	}
}

// TestCheckpointInTheWay: frozen processes have files open and mapped. Where Linux refuses
// something because of them, that is counted, and the step marked; a node without copies is not
// touched.
func TestCheckpointInTheWay(t *testing.T) {
	for _, c := range []struct {
		refused string
		args    []string
	}{
		{"execve of a busy file", []string{"/bin/sh", "-c", "exec 3>p; cat /bin/sleep >&3; sleep 1; exec 3>&-; chmod +x p; ./p 1"}},
		{"", []string{"/bin/sh", "-c", "exec 3>p; cat /bin/sleep >&3; sleep 1; chmod +x p; ./p 1"}},
		{"openat of a busy file", []string{"/bin/sh", "-c", "cp /bin/sleep p; ./p 1; echo x >p"}},
		{"", []string{"/bin/sh", "-c", "cp /bin/sleep p; ./p 2 & sleep 1; echo x >p"}},
		{"fcntl F_ADD_SEALS", []string{"/usr/bin/python3", "-c", mapOnly + "fd=l.memfd_create(b'm',2);os.ftruncate(fd,40960);m=mapped(fd,1);m[0]=7;time.sleep(1)\nl.munmap.argtypes=[ctypes.c_void_p,ctypes.c_size_t];l.munmap(ctypes.addressof(m),40960);del m\nl.fcntl(fd,1033,8)\n"}},
		{"", []string{"/usr/bin/python3", "-c", mapOnly + "fd=l.memfd_create(b'm',2);os.ftruncate(fd,40960);l.fcntl(fd,1033,8);time.sleep(1);os._exit(l.fcntl(fd,1034,0)-8)"}},
	} {
		for _, freeze := range []bool{false, true} {
			runtime.LockOSThread()
			if err := tracee.Pin(0); err != nil {
				t.Fatal(err)
			}
			s := &spec.Spec{Dir: t.TempDir(), Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000},
				Nodes: []spec.Node{{Name: "n1", CPUs: 1, Commands: []spec.Command{{Args: c.args}}}}}
			n := Start(Config{Pages: followInTests, Machine: machines.Of(s, 0, 1)})
			in, refused, marked := ariadne.Input{Kind: ariadne.Start}, "", false
			for {
				out, err := n.Apply(in)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range out.Refusals {
					refused, marked = r.Name, out.Unreplayable && !r.Harmless
				}
				if out.Done || out.Deadline == ariadne.Never {
					break
				}
				if freeze {
					p, err := n.Freeze()
					if err != nil {
						t.Fatal(err)
					}
					defer p.Drop()
				}
				in = ariadne.Input{Kind: ariadne.Fire, At: out.Deadline}
			}
			want := c.refused
			if !freeze {
				want = ""
			}
			if refused != want || marked != (want != "") {
				t.Errorf("%v, frozen %v: refused %q, marked %v, want %q", c.args, freeze, refused, marked, want)
			}
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// mapOnly is a function that maps a file without a further descriptor of it, as Python's
// own does.
const mapOnly = `import ctypes,os,time
l=ctypes.CDLL(None);l.mmap.restype=ctypes.c_void_p;l.mmap.argtypes=[ctypes.c_void_p,ctypes.c_size_t,ctypes.c_int,ctypes.c_int,ctypes.c_int,ctypes.c_long]
def mapped(fd,flags): return (ctypes.c_ubyte*40960).from_address(l.mmap(None,40960,3,flags,fd,0))
`

// TestOrdinaryUser runs the test above as nobody.
func TestOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to become nobody")
	}
	f, err := os.CreateTemp("", "node.test")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(f.Name())
	self, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		_, err = f.Write(self)
	}
	if err := errors.Join(err, f.Chmod(0o755), f.Close()); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(f.Name(), "-test.run", "^TestFreezeAndThawAtEveryStep$")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func freezeAndThaw(t *testing.T, args []string) {
	t.Helper()
	freezeAndThawSpec(t,
		&spec.Spec{Dir: t.TempDir(), Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000},
			Nodes: []spec.Node{{Name: "n1", CPUs: 1, Commands: []spec.Command{{Args: args}}}}})
}

func freezeAndThawSpec(t *testing.T, s *spec.Spec) {
	t.Helper()
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	args := s.Nodes[0].Commands[0].Args
	var points []*Checkpoint
	apply := func(n *Node, in ariadne.Input) (ariadne.Output, ariadne.Input) {
		out, err := n.Apply(in)
		if err != nil {
			t.Fatal(err)
		}
		return out, ariadne.Input{Kind: ariadne.Fire, At: out.Deadline}
	}
	more := func(o ariadne.Output) bool { return !o.Done && o.Deadline != ariadne.Never && o.Diverged == "" }
	whole := func(freeze bool) (outs []ariadne.Output) {
		n := Start(Config{Pages: followInTests, Machine: machines.Of(s, 0, 1)})
		out, in := apply(n, ariadne.Input{Kind: ariadne.Start})
		for {
			outs = append(outs, out)
			if !more(out) {
				break
			}
			if freeze {
				c, err := n.Freeze()
				if err != nil {
					t.Fatal(err)
				}
				points = append(points, c)
			}
			out, in = apply(n, in)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		return outs
	}
	outs, frozen := whole(false), whole(true)
	for i := range outs {
		if i >= len(frozen) || frozen[i].Digest != outs[i].Digest {
			t.Errorf("%v: frozen after each step, step %d is %+v, was %+v", args, i,
				append(frozen, ariadne.Output{})[min(i, len(frozen))], outs[i])
			break
		}
	}
	for k := range points { // last, first, last but one, second, ...: far back and far on
		i := k / 2
		if k%2 == 0 {
			i = len(points) - 1 - i
		}
		m, err := points[i].Thaw()
		if err != nil {
			t.Fatal(err)
		}
		out := outs[i]
		for j := i + 1; more(out); j++ {
			out, _ = apply(m, ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
			if out.Digest != outs[j].Digest {
				t.Errorf("%v: thawed after step %d, step %d is %+v, was %+v", args, i, j, out, outs[j])
				break
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		encodeAndThaw(t, points[i], outs[i:])
		if err := points[i].Drop(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%v: %d steps", args, len(outs))
}
