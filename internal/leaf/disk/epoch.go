package disk

import (
	"fmt"
	"slices"
	"strings"
)

// Epoch is what a program has said of its work up to some moment (/dev/ariadne), for who checks
// what a loss at that moment leaves.
type Epoch struct {
	Begun, Ended int      // how often it has begun something, and ended it
	Failed       int      // of what has ended: how often it was in vain, and is to have no effect
	Promises     []string // what is to hold from then on, each once, in order
}

// maxPromises is how many bytes promises may have together: they are handed over in the
// environment.
const maxPromises = 1 << 16

// CheckMark says what is wrong with a line by which a program marks a point of its work, or "".
func CheckMark(line string) (why string) {
	word, text, _ := strings.Cut(line, " ")
	switch {
	case line == "begin", line == "end", line == "end failed", line == "crash now":
	case word != "promise" || strings.TrimSpace(text) == "":
		return "neither begin, end, end failed, promise TEXT nor crash now"
	case strings.ContainsRune(text, 0):
		return "a promise cannot have zero bytes"
	}
	return ""
}

// Say takes in a line that CheckMark finds good, and says why it cannot be, or "".
func (e *Epoch) Say(line string) (why string) {
	word, text, _ := strings.Cut(line, " ")
	switch word {
	case "begin":
		e.Begun++
	case "end":
		if e.Ended == e.Begun {
			return "no begin comes before it"
		}
		e.Ended++
		if text != "" {
			e.Failed++
		}
	case "promise":
		text = strings.TrimSpace(text)
		if slices.Contains(e.Promises, text) {
			return ""
		}
		n := len(text)
		for _, p := range e.Promises {
			n += len(p) + 1
		}
		if n > maxPromises {
			return fmt.Sprintf("all promises together have more than %d bytes", maxPromises)
		}
		e.Promises = append(slices.Clip(e.Promises), text)
	}
	return ""
}

// Add takes in what an operation of a log says.
func (e *Epoch) Add(op *Op) {
	if op.Kind == Mark {
		e.Say(op.Target)
	}
}

// Owes reports whether anything has ended well, or was promised: the files from before the program
// began then do not do any more.
func (e Epoch) Owes() bool { return e.Ended > e.Failed || len(e.Promises) > 0 }

// Env are environment variables that tell a checker of it.
func (e Epoch) Env() []string {
	return []string{fmt.Sprint("ARIADNE_BEGUN=", e.Begun), fmt.Sprint("ARIADNE_ENDED=", e.Ended),
		fmt.Sprint("ARIADNE_FAILED=", e.Failed), "ARIADNE_PROMISES=" + strings.Join(e.Promises, "\n")}
}
