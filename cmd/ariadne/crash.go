package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/crash"

	"github.com/spf13/cobra"
)

// crashFlags are those of the command crash.
type crashFlags struct {
	check   string
	read    string
	models  []string
	images  int
	outside []string
	timeout time.Duration
	jobs    int
	html    string
	log     bool
	fail    []string // families of calls
	most    int      // failures
	recover string   // command
	init    string   // likewise
	finish  string   // likewise
	signs   string   // likewise
	again   int      // recoveries
	choices int      // executions with other answers
	apart   bool
	audit   float64
	keep    string // directory
	date    string
	command string // that of the command line
	json    bool
	quiet   bool
}

func (a *app) crashCommand() *cobra.Command {
	c := crashFlags{choices: 100}
	var seed seedFlag
	cmd := &cobra.Command{
		Use:   "crash [--check CHECKER] SPEC | crash [--check CHECKER] -- COMMAND [ARGUMENT...]",
		Short: "Check the files that a program leaves when it is killed or the power fails",
		Long: `Runs the only node of a spec once, or a command on a copy of the working directory, and logs
each operation on its files. At each point of the log, Ariadne forms the files that the program
leaves when it is killed (kill), and the images of the disk that a loss of power may leave. It
forms the images that the persistence model allows, up to --images at each point. The checker
runs in a copy of each different image, and rejects an image by its exit status. In a directory
with a git repository:

  ariadne crash --check 'git fsck' -- git commit -m x

For each failing image, Ariadne looks for the smallest part of the loss that still makes an image
fail, and blames that part.
"rename of B before data of B" means that the disk has the rename, and lacks data written to B
before it.

Models, strongest first:
  prefix    the disk has the operations in order, up to one of them
  ordered   metadata in order, and data before the metadata that show it, as on ext4
  any       each operation that was not synced may be missing, except for earlier changes
            of the same place
With ":512", sectors of 512 bytes may be torn from each other instead of 4096.

Files named by --outside are not on the disk that loses power, and keep their state at that
moment. A program can write its promises there, such as "row 3 is committed". The checker then
sees whether the promise holds.

With --fail, calls on the node's files fail: each named call, in an execution of its own, with
each of its usual errors. When the command reports an error, the files must be those from before,
or files that the checker accepts. When it reports none, the checker must accept the files.
ARIADNE_STATUS has the exit status. After a failed sync the power is lost at the end as well.
Without a checker Ariadne compares the files with those from before or after, and gives advice.

ARIADNE_BEGUN, ARIADNE_ENDED, ARIADNE_FAILED and ARIADNE_PROMISES have the lines that the
program wrote to /dev/ariadne (docs/guides/programs.md). When the program writes "crash now",
images are formed only there. When it asks Ariadne to choose, it is executed again with other
answers, up to --choices times, and the files of each execution are checked. --fail and --html
are for the execution with the first answers alone. With --log, the file $ARIADNE_LOG has an
operation on each line:
{"n": 3, "op": "write", "path": "db", "offset": 0, "length": 8192, "lost": "part",
"lost_bytes": [[0, 4096]]}. An operation without "lost" is complete. The checker then runs again
for each loss that leaves the same files.

The checker can have more commands, as that of "ariadne disk": --init prepares the copy of the
directory, on this machine. --finish runs in the node after the command, and its operations are
logged. --signature prints the state of an image. Images with the same state, and the same lines
written to /dev/ariadne, get the same verdict, and the checker runs on one of them.

With --recover, a command recovers each image, on this machine, before the checker looks at it.
Ariadne also executes this command in the node, on up to --recoveries of the images that pass: of
those that a kill leaves, and of those that each model allows. It logs the operations of the
recovery, and forms the images that another kill or loss of power during it may leave. These are
recovered and checked in turn. So Ariadne finds a recovery that cannot be repeated. --recover does
so for the first answers alone.

Without a checker Ariadne rejects nothing and gives advice. It lists files that a loss of power
leaves and no kill does, and that are near neither the first nor the last content by edit
distance. With --read it compares the output of a command instead, run in each image. The command
can restart the program and print what is stored.

The checker runs on this machine, not in a node. It finds each image at /node, as the program
did, and may change it. Where Ariadne may not make a mount namespace, the image is in another
directory, and a note says so. The checker must accept the files of the complete run. Each
failing image is checked twice. An image with two different verdicts is undecided. An image
that equals another one in everything that the checker read gets the same verdict without a
run, unless --apart is given. A checker with a slash in its name is looked up from the working
directory.

Exit status: 1 the checker rejects an image. 2 the command fails, or the checker rejects the
files of the complete run. 3 no image is rejected, and a check did not end in time, or was
interrupted. docs/guides/storage.md has the rules of the models.`,
		Example: `  ariadne crash --check 'git fsck' -- git commit -m x
  ariadne crash --check ./verify --model any --outside promised sqlite.yaml
  ariadne crash --fail files --check ./verify sqlite.yaml
  ariadne crash --read 'sqlite3 db .dump' -- sqlite3 db 'update t set a = 2'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if c.check != "" && c.read != "" {
				return usageError{errors.New("crash: --check and --read exclude each other: give one of them")}
			}
			for _, name := range []string{"check", "read", "init", "finish", "signature", "recover"} {
				if f := cmd.Flag(name); f.Changed && strings.TrimSpace(f.Value.String()) == "" {
					return usageError{fmt.Errorf("crash: --%s: the command is empty", name)}
				}
			}
			if len(args) == 0 {
				return usageError{errors.New("crash: SPEC or -- COMMAND is missing")}
			}
			if at := cmd.ArgsLenAtDash(); at > 0 || at < 0 && len(args) > 1 {
				return usageError{errors.New("crash: SPEC and -- COMMAND exclude each other: give one of them")}
			}
			if c.log && c.check == "" {
				return usageError{errors.New("crash: --log needs a checker: add --check")}
			}
			if c.most > 0 && c.fail == nil {
				return usageError{errors.New("crash: --failures bounds the calls that fail: add --fail")}
			}
			if c.recover != "" && c.check == "" {
				return usageError{errors.New("crash: --recover needs a checker: add --check")}
			}
			if c.signs != "" && c.check == "" {
				return usageError{errors.New("crash: --signature needs a checker: add --check")}
			}
			if c.recover != "" && c.log {
				return usageError{errors.New("crash: --recover and --log exclude each other: the log says what the image lacks, and the recovery changes it: leave out one of them")}
			}
			if c.again > 0 && c.recover == "" {
				return usageError{errors.New("crash: --recoveries bounds the executions of a recovery: add --recover")}
			}
			if c.audit < 0 || c.audit > 1 {
				return usageError{fmt.Errorf("crash: --audit: %v is not a number from 0 to 1", c.audit)}
			}
			if c.timeout <= 0 {
				return usageError{fmt.Errorf("crash: --timeout: %v is not a duration above 0", c.timeout)}
			}
			for _, name := range c.outside {
				if !filepath.IsLocal(name) {
					return usageError{fmt.Errorf("crash: --outside: %q is no file in the working directory", name)}
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			temp, remove, err := crash.TempDir()
			if err != nil {
				return err
			}
			defer remove()
			command := cmd.ArgsLenAtDash() == 0
			if command {
				c.command = strings.Join(args, " ")
			}
			s, err := crashSpec(args, command, temp)
			if err == nil {
				seed.apply(s)
				err = c.setDate(s, command)
			}
			if err == nil {
				err = a.crash(cmd, s, &c, temp)
			}
			if err != nil && cmd.Context().Err() != nil {
				return a.interrupted(c.json)
			}
			var bad spec.Errors
			if command && errors.As(err, &bad) { // nobody has written that spec
				texts := make([]string, len(bad))
				for i, e := range bad {
					texts[i] = e.Text
				}
				err = fmt.Errorf("the command: %s", strings.Join(texts, "; "))
			}
			return err
		},
	}
	seed.add(cmd)
	f := cmd.Flags()
	f.StringVar(&c.check, "check", "", "`command` that accepts files by status 0; a shell runs it when it has shell characters")
	f.StringVar(&c.read, "read", "", "`command` that prints what is found in files, for advice where there is no checker")
	f.StringSliceVar(&c.models, "model", []string{disk.Ordered.String()}, "persistence `model`: prefix, ordered or any; several, with commas, are tried one after the other")
	f.Var(count{&c.images, 1, spec.MaxInt, nil}, "images", "up to `n` images at each point, of each model, besides those of stronger models (default: 64)")
	f.StringSliceVar(&c.outside, "outside", nil, "`file` in the working directory that is not on the disk; may be repeated")
	f.BoolVar(&c.log, "log", false, "give the checker the file $ARIADNE_LOG, with the operations, and what of each is lost, as lines of JSON")
	f.DurationVar(&c.timeout, "timeout", 10*time.Second, "a check that takes longer is undecided")
	f.StringSliceVar(&c.fail, "fail", nil, "`calls`, or families of them, each of which fails once, alone (docs/guides/faults.md); files: every call that needs a disk")
	f.Var(count{&c.most, 1, spec.MaxInt, nil}, "failures", "let up to `n` calls fail (default: 1000)")
	f.StringVar(&c.init, "init", "", "`command` that prepares the directory, before anything is logged")
	f.StringVar(&c.finish, "finish", "", "`command` that the node runs when its own has ended, and whose operations are logged too")
	f.StringVar(&c.signs, "signature", "", "`command` that prints the state of an image; images with equal states are checked once")
	f.StringVar(&c.recover, "recover", "", "`command` that recovers the files before the checker looks at them, and during which there is another loss")
	f.Var(count{&c.again, 1, spec.MaxInt, nil}, "recoveries", "execute the recovery of up to `n` images of kills, and of each model (default: 100)")
	f.Var(count{&c.choices, 0, spec.MaxInt, nil}, "choices", "up to `n` more executions, with other answers where the program asks Ariadne to choose")
	f.Var(count{&c.jobs, 1, maxJobs, nil}, "jobs", "`n` checks at the same time (default: one per processor)")
	f.BoolVar(&c.apart, "apart", false, "check each image, also when it equals another one wherever the checker looks")
	f.Float64Var(&c.audit, "audit", 0, "check this `share` of equal images, too, and compare the verdicts: 0 to 1")
	f.StringVar(&c.keep, "keep", "", "write a failing image of each group to this `directory`, the one that lost least, with a list of what it lost")
	f.StringVar(&c.date, "date", "", "`date` that the command's clock shows at first, such as 2026-11-21 or 2026-11-21T09:30:00Z (default: now, or the spec's)")
	f.StringVar(&c.html, "html", "", "write a page to this `file`, with the operations and where images fail")
	f.BoolVar(&c.json, "json", false, "print one JSON object per line: of kills, and of each model")
	f.BoolVar(&c.quiet, "quiet", false, "print no progress")
	return cmd
}

// crashSpec is a spec with one node: that of a file, or one that runs a command, which is written
// to temp for the record.
func crashSpec(args []string, command bool, temp string) (*spec.Spec, error) {
	if !command {
		s, err := spec.Read(args[0])
		if err == nil && len(s.Nodes) != 1 {
			err = fmt.Errorf("spec %s: ariadne crash runs one node, and the spec has %d: for several, use ariadne check --faults power", args[0], len(s.Nodes))
		}
		return s, err
	}
	words := make([]string, len(args))
	for i, w := range args {
		words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	line, err := json.Marshal(strings.Join(words, " "))
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	text := fmt.Appendf(nil, "nodes: [{name: node, dir: ., client: true, command: %s}]\n", line)
	s, err := spec.Parse(filepath.Join(dir, "command.yaml"), text)
	if err != nil {
		return nil, err
	}
	s.Nodes[0].Links = nil // it has a copy of all files, and --init may have removed some
	s.Name, s.Path = filepath.Base(args[0]), filepath.Join(temp, "command.yaml")
	return s, os.WriteFile(s.Path, text, 0o666)
}

// setDate has the clock of the command begin at the date that is given, or now.
func (c *crashFlags) setDate(s *spec.Spec, command bool) (err error) {
	switch {
	case c.date != "":
		if s.Date, err = spec.ParseDate(c.date); err != nil {
			return usageError{fmt.Errorf("crash: --date: %w", err)}
		}
	case command:
		s.Date = time.Now().UTC().Truncate(time.Second)
	}
	return nil
}

func (a *app) crash(cmd *cobra.Command, s *spec.Spec, c *crashFlags, temp string) error {
	check, err := checkerOf("--check", c.check)
	if err != nil {
		return err
	}
	read, err := checkerOf("--read", c.read)
	if err != nil {
		return err
	}
	signature, err := checkerOf("--signature", c.signs)
	if err != nil {
		return err
	}
	if c.finish != "" {
		if err := crash.Finish(s, c.finish); err != nil {
			return usageError{fmt.Errorf("crash: --finish: %w", err)}
		}
	}
	var recoveries *crash.Recoveries
	if c.recover != "" {
		words, err := checkerOf("--recover", c.recover)
		if err != nil {
			return err
		}
		if c.again == 0 {
			c.again = 100
		}
		if recoveries, err = crash.RecoveriesOf(s, a.system(), c.recover, c.again); err != nil {
			return usageError{fmt.Errorf("crash: --recover: %w", err)}
		}
		check = crash.Recovering(words, check)
		if signature != nil {
			signature = crash.Recovering(words, signature)
		}
	}
	if c.images == 0 {
		c.images = 64
	}
	if c.jobs == 0 {
		c.jobs = runtime.NumCPU()
	}
	var models []disk.Model
	for _, name := range c.models {
		m, err := disk.ParseModel(strings.TrimSpace(name))
		if err != nil {
			return usageError{fmt.Errorf("crash: --model: %w", err)}
		}
		if !slices.Contains(models, m) {
			models = append(models, m)
		}
	}
	if err := creatable(c.html); err != nil {
		return err
	}
	if err := vacant(c.keep); err != nil {
		return usageError{fmt.Errorf("crash: --keep: %w", err)}
	}
	if c.most == 0 {
		c.most = 1000
	}
	if c.fail != nil {
		s.Faults = [len(s.Faults)]uint8{}
		s.Faults[world.Fail] = 1
		if s.Fail, err = spec.FailOf(c.fail); err != nil {
			return usageError{fmt.Errorf("crash: --fail: %w", err)}
		}
	}
	if err := enoughTasks(); err != nil {
		return err
	}
	if c.init != "" {
		words, err := checkerOf("--init", c.init)
		if err == nil {
			s.Nodes[0].Dir, err = crash.Prepare(cmd.Context(), words, s.Nodes[0].Dir, s.Dir, temp, c.timeout)
		}
		if err != nil {
			return err
		}
	}
	ops, steps, r, err := crash.Record(cmd.Context(), s, a.system(), filepath.Join(temp, "run"), c.command != "")
	if err != nil {
		return err
	} else if r != nil {
		return a.finish(a.printer(outputFlags{json: c.json, quiet: true}, s), r, nil)
	}
	var attempts *crash.Attempts
	if c.fail != nil {
		attempts = crash.AttemptsOf(s, a.system(), steps, c.outside, c.most)
	}
	o := crash.Options{
		Attempts: attempts, Recovery: recoveries, Apart: c.apart, Audit: c.audit,
		Dir: s.Nodes[0].Dir, Beside: s.Dir, Links: s.Nodes[0].Links, Log: ops, Check: check, Signature: signature,
		Read: read, Models: models,
		Images: c.images, Seed: s.Seed, Workers: c.jobs, Timeout: c.timeout,
		Outside: slices.Clone(c.outside), Tell: c.log, Temp: temp, Keep: c.keep,
	}
	if err := o.Load(); err != nil {
		return err
	}
	show, clear := func(string) {}, func() {}
	switch line := style(a.err); {
	case c.quiet || c.json:
	case isTerminal(a.err):
		show = func(text string) { fmt.Fprint(a.err, "\r\x1b[K"+line.Line(text)) }
		clear = func() { fmt.Fprint(a.err, "\r\x1b[K") }
	default:
		show, o.Pause = func(text string) { fmt.Fprintln(a.err, text) }, pauseOfLines
	}
	o.Progress = func(r *crash.Result) { show(r.Progress()) }
	list, err := a.choose(cmd.Context(), s, c, steps, show, o.Pause)
	clear()
	if err != nil {
		return err
	}
	if err := crash.Judgeable(s, ops, c.fail != nil || list.changes()); err != nil {
		return err
	}
	undecided := 0
	o.Done = func(r *crash.Result) {
		clear()
		if c.json {
			json.NewEncoder(a.out).Encode(r) // the output tells itself of errors
		} else {
			crash.Print(a.out, r, style(a.out))
		}
		unclear := r.Undecided
		if r.Recovered != nil {
			unclear += r.Recovered.Undecided
		}
		switch undecided += unclear; {
		case r.Failed > 0:
			a.status = record.Violated.ExitStatus()
		case unclear > 0 && a.status == 0:
			a.status = record.Inconclusive.ExitStatus()
		}
	}
	results, err := crash.Judge(cmd.Context(), o)
	if c.html != "" && len(results) > 0 {
		err = errors.Join(err, writeTo(c.html, func(w io.Writer) error {
			return crash.Page(w, cmp.Or(c.command, s.Name), ops, results)
		}))
	}
	if err == nil {
		err = a.crashChosen(cmd.Context(), list, c, o)
	}
	if err == nil && a.status == record.Inconclusive.ExitStatus() && undecided > 0 && !c.json {
		fmt.Fprintf(a.out, "inconclusive (%d undecided)\n", undecided)
	}
	return err
}

// otherAnswers are the executions in which a program gets other answers than the first ones.
type otherAnswers struct {
	all    []*crash.Chosen
	more   bool // there are others
	failed error
}

// changes reports whether the program changes files with any of the answers.
func (l *otherAnswers) changes() bool {
	return slices.ContainsFunc(l.all, func(e *crash.Chosen) bool { return len(e.Log) > 0 })
}

// choose executes a program with other answers than the first ones, with which it took steps. It
// shows its progress now and then.
func (a *app) choose(ctx context.Context, s *spec.Spec, c *crashFlags, steps []ariadne.Step, show func(string),
	pause time.Duration) (list otherAnswers, err error) {
	shown := time.Now()
	list.more, err = crash.EachChosen(ctx, s, a.system(), steps, c.choices, func(e *crash.Chosen) error {
		if e.Failed != "" && list.failed == nil {
			list.failed = fmt.Errorf("with the answers %s, the command failed: %s", e.Answers, e.Failed)
		}
		list.all = append(list.all, e)
		if time.Since(shown) > max(pause, 200*time.Millisecond) {
			shown = time.Now()
			show(fmt.Sprintf("executed with other answers: %d of up to %d", len(list.all), c.choices))
		}
		return nil
	})
	return list, err
}

// crashChosen checks the files of executions with other answers, as o has those of the first
// answers checked. It prints results in which an image fails or is undecided.
func (a *app) crashChosen(ctx context.Context, list otherAnswers, c *crashFlags, o crash.Options) error {
	failing, unclear := 0, 0
	done := o.Done
	o.Attempts, o.Recovery = nil, nil
	for n, e := range list.all {
		switch {
		case e.Failed != "" || len(e.Log) == 0:
			continue
		case len(e.Doubts) > 0:
			if unclear++; unclear == 1 {
				to := a.out
				if c.json {
					to = a.err
				}
				fmt.Fprintf(to, "With the answers %s, nothing can be said: %s\n", e.Answers, e.Doubts[0])
			}
			continue
		}
		o := o
		o.Log, o.Outside, o.Temp = e.Log, slices.Clone(c.outside), filepath.Join(o.Temp, strconv.Itoa(n+1))
		if o.Keep != "" {
			o.Keep = filepath.Join(o.Keep, "answers-"+strconv.Itoa(n+1))
		}
		if err := os.Mkdir(o.Temp, 0o700); err != nil {
			return err
		}
		var bad []*crash.Result
		o.Done = func(r *crash.Result) {
			r.Answers = e.Answers
			if r.Failed > 0 || r.Undecided > 0 || c.json {
				bad = append(bad, r)
			}
		}
		_, err := crash.Judge(ctx, o)
		if slices.ContainsFunc(bad, func(r *crash.Result) bool { return r.Failed > 0 }) {
			failing++
		}
		for i, r := range bad {
			switch {
			case c.json:
			case failing > mostChosen && r.Failed > 0:
				fmt.Fprintf(a.out, "With the answers %s: %s: %d images fail\n", e.Answers, r.Model, r.Failed)
				continue
			case i == 0:
				fmt.Fprintf(a.out, "With the answers %s:\n", e.Answers)
			}
			done(r)
		}
		if err == nil {
			err = os.RemoveAll(o.Temp)
		}
		if err != nil {
			return fmt.Errorf("with the answers %s: %w", e.Answers, err)
		}
	}
	if unclear > 0 && a.status == 0 {
		a.status = record.Inconclusive.ExitStatus()
	}
	failed := list.failed
	if failed != nil && a.status == record.Violated.ExitStatus() { // which counts for more
		fmt.Fprintf(a.err, "ariadne: %v\n", failed)
		failed = nil
	}
	switch {
	case len(list.all) == 0 && !list.more:
		return failed
	case c.json:
		o := chosenObject{Executions: len(list.all), Failing: failing, Undecided: unclear, More: list.more}
		if list.failed != nil {
			o.Failed = list.failed.Error()
		}
		json.NewEncoder(a.out).Encode(o) // the output tells itself of errors
		return failed
	}
	text := fmt.Sprintf("executions with other answers: %d", len(list.all))
	if len(list.all) > 0 {
		text += fmt.Sprintf(", of which %d have images that fail", failing)
	}
	if unclear > 0 {
		text += fmt.Sprintf("; nothing can be said of %d", unclear)
	}
	if list.more {
		text += "; further answers were not tried (--choices)"
	}
	fmt.Fprintln(a.out, text)
	return failed
}

// chosenObject is the last object of `ariadne crash --json`, of a program that asks Ariadne to
// choose.
type chosenObject struct {
	// Executions is how many there are with other answers than the first ones.
	Executions int `json:"other_answers"`
	Failing    int `json:"failing"` // of them, with images that fail
	// Undecided is of how many nothing can be said.
	Undecided int `json:"undecided,omitempty"`
	// More says that further answers were not tried.
	More bool `json:"more,omitempty"`
	// Failed says how the command failed with some of the answers.
	Failed string `json:"failed,omitempty"`
}

// mostChosen is of how many executions all is printed.
const mostChosen = 3

// pauseOfLines is how often a line says how far it is, where standard error is no terminal.
const pauseOfLines = 30 * time.Second

// vacant reports why a directory cannot be made, or filled when it is there, if that is so.
func vacant(dir string) error {
	if dir == "" {
		return nil
	}
	list, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err = os.Stat(filepath.Dir(filepath.Clean(dir)))
	case err == nil && len(list) > 0:
		err = fmt.Errorf("%s is not empty", dir)
	}
	return err
}

// creatable reports why a file cannot be written, if that is so, before the work is done that it is
// to hold. It leaves the file as it is.
func creatable(name string) error {
	if name == "" {
		return nil
	}
	st, err := os.Stat(name)
	there := err == nil
	if there && !st.Mode().IsRegular() && !st.IsDir() { // a pipe would end for its reader
		return nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	f.Close()
	if !there {
		return os.Remove(name)
	}
	return nil
}

// writeTo has a page written to a file.
func writeTo(name string, page func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(page(f), f.Close())
}

// interrupted ends it early. Images that were rejected before that are still violations.
func (a *app) interrupted(json bool) error {
	text := "images fail (interrupted: there may be more)"
	if a.status != record.Violated.ExitStatus() {
		a.status, text = record.Inconclusive.ExitStatus(), "inconclusive (interrupted)"
	}
	if !json {
		fmt.Fprintln(a.out, text)
	}
	return nil
}

// checkerOf are the words of a command that is to be run in images, or none.
func checkerOf(flag, line string) ([]string, error) {
	if line == "" {
		return nil, nil
	}
	words, err := spec.Words(line)
	if err != nil {
		return nil, usageError{fmt.Errorf("crash: %s: %w", flag, err)}
	}
	if strings.Contains(words[0], "/") { // from here, not from the image
		words[0], err = filepath.Abs(words[0])
	}
	return words, err
}
