package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo/stack"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect/branch"
)

// Branch is where a program decides by a time that it has read.
type Branch struct {
	// Stack are the functions, the innermost first: at most branchFrames of them.
	Stack []stack.Frame `json:"stack"`
	// Comparison is the instruction that compares, or "": it is not known.
	Comparison string    `json:"comparison,omitempty"`
	Operands   []Operand `json:"operands,omitempty"`
	// Confirmed: if this decision alone is the other one, the node does what it does after the
	// boundary. Otherwise it is the first decision that differs.
	Confirmed bool `json:"confirmed"`
	// Instructions is how many instructions after the read the process decides.
	Instructions int `json:"instructions"`
}

// Place is where the program decides, as a text that tells places apart: program, function and
// line. "": no line is known. An address alone tells nothing in an interpreter, which decides for
// all that it executes at the same one.
func (b *Branch) Place() string {
	if b == nil || len(b.Stack) == 0 || b.Stack[0].Line == 0 {
		return ""
	}
	f := &b.Stack[0]
	return fmt.Sprintf("%s %s %s:%d", f.Module, f.Function, f.File, f.Line)
}

// Where is the place with the functions that led there, in words.
func (b *Branch) Where() string {
	var texts []string
	for i := range b.Stack {
		texts = append(texts, b.Stack[i].String())
	}
	where := strings.Join(texts, " < ")
	if !b.Confirmed {
		where += " (the first that differs, not the cause alone)"
	}
	return where
}

// Compares is what is compared, in words, or "".
func (b *Branch) Compares() string {
	if len(b.Operands) == 0 {
		return ""
	}
	var before, after []string
	for _, o := range b.Operands {
		before, after = append(before, cmp.Or(o.Before, "?")), append(after, cmp.Or(o.After, "?"))
	}
	return fmt.Sprintf("%s before, %s after (%s)", strings.Join(before, " and "), strings.Join(after, " and "),
		b.Comparison)
}

// Operand is a value that is compared, before the boundary and after it, as a text, or "".
type Operand struct {
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

const (
	branchFrames = 3
	// maxInstructions is how many instructions of a process are looked at behind a read of the
	// clock. maxPartings is how many decisions are tried, as long as the process does not execute
	// more than maxTried instructions on the way to them.
	maxInstructions = 200_000
	maxPartings     = 24
	maxTried        = 500_000
)

// brancher looks for the decision of a boundary.
type brancher struct {
	session *Session
	at      *space.Boundary
	read    int // the read of the clock by which the node decides
	code    branch.Code
}

// findBranch finds the decision by which a node does something else if its clock goes on by a time
// at a read. nil: none was found.
func (s *Session) findBranch(at *space.Boundary, read int, by ariadne.Time) (*Branch, error) {
	b := &brancher{s, at, read, branch.Code{}}
	before, after, err := b.narrow(by)
	if err != nil {
		return nil, err
	}
	was, err := b.record(before)
	if err != nil {
		return nil, err
	}
	is, err := b.record(after)
	if err != nil {
		return nil, err
	}
	partings := branch.Partings(was, is, b.code, maxPartings)
	if len(partings) == 0 {
		return nil, nil
	}
	decides, confirmed, tried := partings[0], false, 0
	for _, p := range partings {
		if tried += p.A; tried > maxTried {
			break
		}
		if confirmed, err = b.isDecisive(before, p, is); err != nil {
			return nil, err
		} else if confirmed {
			decides = p
			break
		}
	}
	found := &Branch{Confirmed: confirmed, Instructions: decides.A}
	return found, b.describe(found, decides, before, after, was, is)
}

// narrow finds two times, a nanosecond apart, such that the node does something else if the clock
// goes on by one and not by the other.
func (b *brancher) narrow(by ariadne.Time) (before, after ariadne.Time, err error) {
	after = by
	for after-before > 1 && err == nil {
		mid := before + (after-before)/2
		var does bool
		if does, err = b.try(mid, nil); does {
			after = mid
		} else {
			before = mid
		}
	}
	return before, after, err
}

// try executes the step with a clock that goes on by a time at the read, and reports whether the
// node does what it does after the boundary. see looks at the instructions behind the read, and may
// be nil.
func (b *brancher) try(by ariadne.Time, see func(m inspect.Steppable, i *inspect.Instruction) (bool, error)) (
	does bool, err error) {
	out, ok, err := b.session.executor.Try(b.at.From, b.at.InputAt(b.at.Before), func(x memo.Instance) bool {
		n, notes := x.(memo.ClockNoter)
		m, steps := x.(inspect.Steppable)
		if !notes || !steps {
			return false
		}
		n.NoteClockReads(b.read, by)
		if see != nil {
			m.StepFromRead(func(i *inspect.Instruction) (bool, error) { return see(m, i) })
		}
		return true
	})
	return ok && err == nil && b.at.DoesAfter(&out), err
}

// record lists the instructions behind the read.
func (b *brancher) record(by ariadne.Time) (all []branch.Instruction, err error) {
	_, err = b.try(by, func(m inspect.Steppable, i *inspect.Instruction) (bool, error) {
		if b.code[i.IP] == nil {
			b.code[i.IP] = codeAt(m, i)
		}
		all = append(all, branch.Instruction{Thread: int32(i.TID), IP: i.IP, SP: i.SP, Flags: uint32(i.Flags)})
		return len(all) < maxInstructions, nil
	})
	return all, err
}

// codeAt are the bytes at an instruction.
func codeAt(m inspect.Steppable, i *inspect.Instruction) []byte {
	var b [branch.MaxLength]byte
	n, err := m.ReadMemory(i.PID, i.IP, b[:])
	if err != nil {
		n = 0
	}
	return slices.Clone(b[:n])
}

// isDecisive reports whether the node does what it does after the boundary if one decision alone is
// the other one.
func (b *brancher) isDecisive(before ariadne.Time, p branch.Parting, is []branch.Instruction) (bool, error) {
	at, place := 0, p.A
	if !p.ByFlags {
		place++
		if p.B+1 == len(is) {
			return false, nil
		}
	}
	return b.try(before, func(_ inspect.Steppable, i *inspect.Instruction) (bool, error) {
		if at++; at <= place {
			return true, nil
		}
		if p.ByFlags {
			i.Flags = i.Flags&^branch.Flags | uint64(is[p.B].Flags)&branch.Flags
		} else {
			i.IP = is[p.B+1].IP
		}
		return false, nil
	})
}

// describe says where a decision is, and what is compared there.
func (b *brancher) describe(found *Branch, p branch.Parting, before, after ariadne.Time,
	was, is []branch.Instruction) error {
	c, compares := branch.Compared{}, 0
	if p.ByFlags {
		at, compared, ok := branch.Comparison(was, p.A, b.code)
		if ok && p.B-p.A+at >= 0 && is[p.B-p.A+at].IP == was[at].IP {
			found.Comparison = compared.Text
			c, compares = compared, p.A-at
		}
	}
	values, err := b.lookAt(before, p.A, compares, &c, func(m inspect.Steppable, i *inspect.Instruction) (err error) {
		found.Stack, err = b.session.Stack(m, i.PID, i.TID)
		return err
	})
	if err != nil {
		return err
	}
	found.Stack = found.Stack[:min(len(found.Stack), branchFrames)]
	others, err := b.lookAt(after, p.B, compares, &c, func(inspect.Steppable, *inspect.Instruction) error {
		return nil
	})
	for i := range min(len(values), len(others)) {
		found.Operands = append(found.Operands, Operand{values[i], others[i]})
	}
	return err
}

// lookAt lets look see the machine before an instruction, and returns what an earlier one compares.
func (b *brancher) lookAt(by ariadne.Time, place, earlier int, c *branch.Compared,
	look func(inspect.Steppable, *inspect.Instruction) error) (values []string, err error) {
	at := -1
	_, err = b.try(by, func(m inspect.Steppable, i *inspect.Instruction) (more bool, err error) {
		at++
		if at == place-earlier && earlier > 0 {
			values, err = valuesOf(m, i, c)
		}
		if at == place && err == nil {
			err = look(m, i)
		}
		return at < place, err
	})
	return values, err
}

// valuesOf are those that an instruction compares that is executed next.
func valuesOf(m inspect.Steppable, i *inspect.Instruction, c *branch.Compared) ([]string, error) {
	r, err := m.Registers(i.TID)
	if err != nil {
		return nil, err
	}
	return c.Values(branch.Machine{
		Register: r.Of,
		Vector: func(n int) (b [16]byte, ok bool) {
			const first = 160 // of FXSAVE
			if ok = first+16*n+16 <= len(r.Extended); ok {
				copy(b[:], r.Extended[first+16*n:])
			}
			return b, ok
		},
		Read: memoryOf(m, i.PID),
	}), nil
}
