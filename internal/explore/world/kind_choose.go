package world

import "github.com/ariadne-mc/ariadne"

// Choose is the number of its kind.
const Choose ariadne.ActionKind = 14

// A program may ask which of some things it is to do (/dev/ariadne). The answer is data and no
// fault: the first one is as natural as any other, and it costs nothing. All of them are tried
// wherever an input leads to the question, and in a step with several of them all combinations are.
func init() {
	register(Choose, Kind{Name: "choose", Doc: "a step in which a program asks what to do and is not told the first", Within: true})
}
