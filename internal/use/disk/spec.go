//go:build linux

package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk/fsmodel"
	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/stack"

	"go.yaml.in/yaml/v3"
)

// Spec is the description of a stack and its checker.
type Spec struct {
	Name string
	Path string
	Text []byte // of the file
	stack.Config
	Checker Checker
	Files   *Files // the ready-made checker, or nil
	Moments block.Moments
	// Images is how many are formed at one point, at most.
	Images int
	// Sector is the size in bytes of what is written wholly or not at all, or 0: each request is.
	Sector int64
	// Recovery has the power lost once more, at each point of the recovery.
	Recovery bool
	Seed     uint64
	// Faults are those of which one happens, each in executions of its own, and Failures is how
	// many of a kind there are, of each workload. Repairs are those of Faults that nobody may
	// notice.
	Faults, Repairs []stack.Fault
	Failures        int
}

// Checker is the commands of a checker.
type Checker struct {
	Init, Mutate, Check, Signature, Finish []string
	// Integrity takes the place of Check after a silent fault.
	Integrity []string
	Mutations int // in a row
	Timeout   time.Duration
}

// Files is the ready-made checker of file systems.
type Files struct {
	Rule      fsmodel.Rule
	Workloads int            // operations of each
	Of        int            // which part of all workloads: one in so many
	Without   []fsmodel.Kind // calls that no workload has
	Also      []fsmodel.Kind // further calls
}

// text is a spec as it is written.
type text struct {
	Name    string      `yaml:"name"`
	Stack   []component `yaml:"stack"`
	Checker *struct {
		Init      string   `yaml:"init"`
		Mutate    string   `yaml:"mutate"`
		Check     string   `yaml:"check"`
		Integrity string   `yaml:"integrity"`
		Signature string   `yaml:"signature"`
		Finish    string   `yaml:"finish"`
		Mutations *int     `yaml:"mutations"`
		Timeout   duration `yaml:"timeout"`
	} `yaml:"checker"`
	Files *struct {
		Rule      string         `yaml:"rule"`
		Workloads *int           `yaml:"workloads"`
		OneIn     *int           `yaml:"one_in"`
		Without   []fsmodel.Kind `yaml:"without"`
		Also      []fsmodel.Kind `yaml:"also"`
	} `yaml:"files"`
	Moments  string         `yaml:"moments"`
	Images   *int           `yaml:"images"`
	Sectors  string         `yaml:"sectors"`
	Recovery bool           `yaml:"recovery"`
	Faults   map[string]int `yaml:"faults"`
	Failures *int           `yaml:"failures"`
	Repairs  []string       `yaml:"repairs"`
	Seed     uint64         `yaml:"seed"`
	Timeout  duration       `yaml:"timeout"`
}

// component is a layer as it is written.
type component struct {
	Name       string   `yaml:"name"`
	On         []string `yaml:"on"`
	Device     string   `yaml:"device"`
	Lies       bool     `yaml:"lies"`
	Mirror     bool     `yaml:"mirror"`
	Stripe     string   `yaml:"stripe"`
	RAID5      string   `yaml:"raid5"`
	Fails      string   `yaml:"fails"`
	FileSystem string   `yaml:"filesystem"`
	Mkfs       string   `yaml:"mkfs"`
	Options    string   `yaml:"options"`
	Fsck       bool     `yaml:"fsck"`
	Init       string   `yaml:"init"`
	Mount      string   `yaml:"mount"`
	Unmount    string   `yaml:"unmount"`
	Recover    string   `yaml:"recover"`
	Verify     string   `yaml:"verify"`
	Threads    []string `yaml:"threads"`
}

// duration is one as it is written.
type duration time.Duration

func (d *duration) UnmarshalYAML(n *yaml.Node) error {
	t, err := time.ParseDuration(n.Value)
	if err != nil || t <= 0 {
		return fmt.Errorf("line %d: %q is no duration above 0, such as 10s", n.Line, n.Value)
	}
	*d = duration(t)
	return nil
}

// Defaults of a spec.
const (
	defaultImages  = 64
	defaultTimeout = 10 * time.Second
	mostImages     = 1 << 20
)

// Read reads and validates the spec in a file.
func Read(path string) (*Spec, error) {
	b, err := readfile.AtMost(path, readfile.Spec)
	if err != nil {
		return nil, fmt.Errorf("spec %s: %w", path, err)
	}
	s, err := Parse(path, b)
	if err != nil {
		return nil, fmt.Errorf("spec %s: %w", path, err)
	}
	return s, nil
}

// typeName is how the YAML package names types of this one.
var typeName = regexp.MustCompile(` in type disk\.\w+| in type struct \{.*\}`)

// wrongType is how the YAML package says that a value is of another type.
var wrongType = regexp.MustCompile("cannot unmarshal !!(\\w+)(?: `(.*?)`)? into (.*)")

// sortsOf are what values of YAML are, by the package's tags.
var sortsOf = map[string]string{"seq": "a list", "map": "a mapping", "str": "a text", "int": "a whole number",
	"float": "a number", "bool": "true or false", "null": "nothing"}

// sortOf is what a Go type takes, likewise.
func sortOf(name string) string {
	switch {
	case strings.HasPrefix(name, "[]"):
		return sortsOf["seq"]
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"):
		return sortsOf["int"]
	case name == "bool":
		return sortsOf["bool"]
	case name == "string", name == "fsmodel.Kind":
		return sortsOf["str"]
	}
	return sortsOf["map"]
}

// plainError is an error of the YAML package, in a line.
func plainError(err error) string {
	text := wrongType.ReplaceAllStringFunc(err.Error(), func(s string) string {
		m := wrongType.FindStringSubmatch(s)
		what := "this"
		if m[2] != "" {
			what = strconv.Quote(m[2])
		}
		return fmt.Sprintf("%s is %s, and must be %s", what, sortsOf[m[1]], sortOf(m[3]))
	})
	text = typeName.ReplaceAllString(text, "")
	text = strings.TrimPrefix(strings.TrimPrefix(text, "yaml: "), "unmarshal errors:")
	return strings.Join(strings.Fields(text), " ")
}

// Parse validates a spec. Relative names in it begin at the directory of path.
func Parse(path string, b []byte) (*Spec, error) {
	var t text
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	switch err := d.Decode(&t); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is empty")
	case err != nil:
		return nil, errors.New(plainError(err))
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	s := &Spec{Name: t.Name, Path: path, Text: b, Recovery: t.Recovery, Seed: t.Seed,
		Config: stack.Config{Dir: dir, Timeout: time.Duration(t.Timeout)}}
	if s.Name == "" {
		s.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	if s.Timeout == 0 {
		s.Timeout = time.Minute
	}
	for _, check := range []func(*text) error{s.setStack, s.setImages, s.setChecker, s.setFiles, s.setFaults} {
		if err := check(&t); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// number is a number of a spec from 1 to most, or another one if the spec does not say it.
func number(name string, n *int, most, otherwise int) (int, error) {
	switch {
	case n == nil:
		return otherwise, nil
	case *n >= 1 && *n <= most:
		return *n, nil
	case most == math.MaxInt:
		return 0, fmt.Errorf("%s: %d is not a number of 1 or more", name, *n)
	}
	return 0, fmt.Errorf("%s: %d is not a number from 1 to %d", name, *n, most)
}

func (s *Spec) setImages(t *text) (err error) {
	switch t.Moments {
	case "", "barriers":
		s.Moments = block.Barriers
	case "requests":
		s.Moments = block.Requests
	default:
		return fmt.Errorf("moments: %q is neither barriers nor requests", t.Moments)
	}
	if s.Images, err = number("images", t.Images, mostImages, defaultImages); err != nil {
		return err
	}
	switch t.Sectors {
	case "":
		s.Sector = block.PageSize
	case "whole":
	case "512", "4096":
		s.Sector, _ = strconv.ParseInt(t.Sectors, 10, 64)
	default:
		return fmt.Errorf("sectors: %q is neither 512, 4096 nor whole", t.Sectors)
	}
	return nil
}

func (s *Spec) setChecker(t *text) error {
	c := t.Checker
	switch {
	case c == nil && t.Files == nil:
		return errors.New("it has neither checker nor files: one of them says what is checked")
	case c != nil && t.Files != nil:
		return errors.New("it has both checker and files: leave one of them out")
	case c == nil:
		return nil
	case c.Mutate == "" || c.Check == "":
		return errors.New("checker: it needs the commands mutate and check")
	}
	mutations, err := number("checker: mutations", c.Mutations, math.MaxInt, 1)
	if err != nil {
		return err
	}
	s.Checker = Checker{Mutations: mutations, Timeout: time.Duration(c.Timeout)}
	if s.Checker.Timeout == 0 {
		s.Checker.Timeout = defaultTimeout
	}
	for _, f := range []struct {
		name, line string
		to         *[]string
	}{{"init", c.Init, &s.Checker.Init}, {"mutate", c.Mutate, &s.Checker.Mutate}, {"check", c.Check, &s.Checker.Check},
		{"integrity", c.Integrity, &s.Checker.Integrity}, {"signature", c.Signature, &s.Checker.Signature},
		{"finish", c.Finish, &s.Checker.Finish}} {
		words, err := s.words(f.line)
		if err != nil {
			return fmt.Errorf("checker: %s: %w", f.name, err)
		}
		*f.to = words
	}
	return nil
}

// words are those of a command line, or none. A program with a slash in its name is found from the
// directory of the spec.
func (s *Spec) words(line string) ([]string, error) {
	if line == "" {
		return nil, nil
	}
	words, err := spec.Words(line)
	if err != nil {
		return nil, err
	}
	if strings.Contains(words[0], "/") && !filepath.IsAbs(words[0]) {
		words[0] = filepath.Join(s.Dir, words[0])
	}
	if words[0], err = exec.LookPath(words[0]); err != nil {
		return nil, err
	}
	return words, nil
}

func (s *Spec) setFiles(t *text) (err error) {
	f := t.Files
	if f == nil {
		return nil
	}
	s.Files = &Files{Rule: fsmodel.Rule(strings.ReplaceAll(f.Rule, "_", " ")), Without: f.Without, Also: f.Also}
	if s.Files.Of, err = number("files: one_in", f.OneIn, math.MaxInt, 1); err != nil {
		return err
	}
	if s.Files.Workloads, err = number("files: workloads", f.Workloads, 3, 1); err != nil {
		return err
	}
	for _, k := range f.Without {
		if !slices.Contains(fsmodel.Kinds(), k) {
			return fmt.Errorf("files: without: %q is none of %s", k, listed(fsmodel.Kinds()))
		}
	}
	for i, k := range f.Also {
		switch {
		case !slices.Contains(fsmodel.Also(), k):
			return fmt.Errorf("files: also: %q is none of %s", k, listed(fsmodel.Also()))
		case slices.Contains(f.Also[:i], k):
			return fmt.Errorf("files: also: %q is there twice", k)
		}
	}
	if f.Rule == "" {
		top := s.Components[len(s.Components)-1]
		s.Files.Rule = ruleOf[top.FileSystem]
		if s.Files.Rule == "" {
			return errors.New("files: rule is missing: in_order, names or posix")
		}
	}
	if !slices.Contains([]fsmodel.Rule{fsmodel.InOrder, fsmodel.Names, fsmodel.Posix}, s.Files.Rule) {
		return fmt.Errorf("files: rule: %q is neither in_order, names nor posix", f.Rule)
	}
	return nil
}

// listed are kinds of calls or faults, for people.
func listed[T ~string](kinds []T) string {
	var all []string
	for _, k := range kinds {
		all = append(all, string(k))
	}
	return strings.Join(all, ", ")
}

// ruleOf is what file systems promise.
var ruleOf = map[string]fsmodel.Rule{"ext2": fsmodel.Posix, "ext3": fsmodel.InOrder, "ext4": fsmodel.InOrder,
	"xfs": fsmodel.InOrder, "btrfs": fsmodel.Names}
