package sys

import (
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
)

// TestJoined: what of the same lies behind each other is one mapping, whether Linux has one of it
// or, after a fork, several.
func TestJoined(t *testing.T) {
	const split = `00001000-00002000 rw-p 00000000 00:00 0
00002000-00003000 rw-p 00000000 00:00 0
00003000-00004000 ---p 00000000 00:00 0
00005000-00006000 ---p 00000000 00:00 0
00006000-00007000 rw-p 00000000 00:00 0 [heap]
00007000-00009000 rw-p 00000000 00:00 0 [heap]
00009000-0000a000 rw-p 00000000 00:00 0
00010000-00011000 r--p 00002000 08:01 7 /a
00011000-00012000 r--p 00003000 08:01 7 /a
00012000-00013000 r--p 00003000 08:01 7 /a
00013000-00014000 r--p 00004000 08:01 8 /b
00014000-00015000 rw-p 00005000 08:01 8 /b
`
	const want = `00001000-00003000 rw-p 00000000 00:00 0
00003000-00004000 ---p 00000000 00:00 0
00005000-00006000 ---p 00000000 00:00 0
00006000-00009000 rw-p 00000000 00:00 0 [heap]
00009000-0000a000 rw-p 00000000 00:00 0
00010000-00012000 r--p 00002000 08:01 7 /a
00012000-00013000 r--p 00003000 08:01 7 /a
00013000-00014000 r--p 00004000 08:01 8 /b
00014000-00015000 rw-p 00005000 08:01 8 /b
`
	parse := func(text string) []procmaps.Mapping { return slices.Collect(procmaps.All(text)) }
	if got := joined(parse(split)); !slices.Equal(got, parse(want)) {
		t.Errorf("%v", got)
	}
}
