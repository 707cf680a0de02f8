//go:build linux

package disk

import (
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
)

// TestPage: the page has the numbers, each group, and the requests before both losses of its
// example, with those marked that are lost. It needs nothing from elsewhere.
func TestPage(t *testing.T) {
	write := func(offset, length int64) block.Op {
		return block.Op{Kind: block.Write, Offset: offset, Length: length, Data: make([]byte, length)}
	}
	flush := block.Op{Kind: block.Flush}
	first := []block.Op{write(0, 512), write(512, 512), flush, write(4096, 8192),
		{Kind: block.Mark, Text: "promise <x>"},
		flush}
	again := []block.Op{write(1<<20, 512), write(2<<20, 512)}
	r := &Report{Name: "a <name>", Executions: 3, Failed: 2, LeftOut: 7, Groups: []Group{{Why: "<lost>", Images: 2,
		Blamed: []string{"raid"}, Example: &Failure{Execution: "the workload", Last: "write of 512 bytes at 2097152",
			Recovery: &Failure{Last: "write of 8192 bytes at 4096"}, trace: &Trace{Log: first, Again: again,
				Failing: &Loss{At: 5, Lost: []block.Loss{{Op: 3, Lo: 8192, Hi: 12288}},
					Again: &Loss{At: 2, Lost: []block.Loss{{Op: 0, All: true}}}}}}}}}
	var b strings.Builder
	if err := Page(&b, r); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		"<h1>a &lt;name&gt;</h1>", `<td class="bad">2</td>`, "<h2>&lt;lost&gt;</h2>", "2 images.",
		"<li>left out: 7 subsets of requests (images)</li>", "without the layer raid, no image fails in this way",
		"<p>Power is lost after write of 8192 bytes at 4096.</p>",
		"<p>In the recovery, power is lost again after write of 512 bytes at 2097152.</p>",
		`<li class="lost"><span class="n">4</span><span class="what">write of 8192 bytes at 4096</span><span class="mark"><b class="bad">lost</b> <span>4096 bytes at 8192</span></span></li>`,
		`<li class="lost"><span class="n">1</span><span class="what">write of 512 bytes at 1048576</span><span class="mark"><b class="bad">lost</b></span></li>`,
		`<li class="kept"><span class="n">2</span>`, `<li class="barrier"><span class="n">3</span><span class="what">flush</span>`,
		"promise &lt;x&gt;",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, no := range []string{"http", "src=", "<script", "ZgotmplZ", "<x>"} {
		if strings.Contains(text, no) {
			t.Errorf("%q in\n%s", no, text)
		}
	}
}
