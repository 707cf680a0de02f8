//go:build linux

package crash

import (
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
)

// TestPage: the page has operations, lines behind what syncs, marks where images fail, and the
// image that lacks least; it needs nothing from elsewhere, and names of files are text in it.
func TestPage(t *testing.T) {
	log := replace(true)
	for _, op := range log {
		op.Path = strings.ReplaceAll(op.Path, "/node/t", "/node/<t>")
	}
	log[0].Name, log[3].Name = "<t>", "<t>"
	dir := t.TempDir()
	all, err := Judge(t.Context(), Options{
		Dir: dir, Log: log[:3], Check: []string{"/bin/sh", "-c", "test ! -e '<t>' || grep -q new '<t>' || { printf '<bad> \\033[31mred\\033[0m\\007\\n'; exit 1; }"}, Models: []disk.Model{disk.Ordered, disk.Any}, Images: 100, Workers: 1,
		Timeout: 10 * time.Second, Temp: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := Page(&page, "a <title>", log, all); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	for _, want := range []string{
		"<h1>a &lt;title&gt;</h1>", `<li class="barrier"><span class="n">3</span><span class="what">fsync of &lt;t&gt;</span>`, "<span>kill 1</span>",
		"creation of &lt;t&gt;, and nothing after it: 1 image fails", "The programs are killed",
		"<h2>kill: the first that fails</h2>", "<h2>any: the failing image that lacks least</h2>",
		"&lt;bad&gt; red·</pre>", `name="viewport"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, no := range []string{"http", "src=", "<script", "ZgotmplZ", "<t>", "0xc", "\x1b"} {
		if strings.Contains(text, no) {
			t.Errorf("%q in\n%s", no, text)
		}
	}
	for _, element := range []string{"html", "body", "table", "tr", "td", "ol", "ul", "li", "span", "p", "h2", "pre"} {
		begin := strings.Count(text, "<"+element+">") + strings.Count(text, "<"+element+" ")
		if end := strings.Count(text, "</"+element+">"); begin != end {
			t.Errorf("%d times <%s>, %d times its end", begin, element, end)
		}
	}
}

// TestStory: what is lost is marked among what is there, from the last sync before it on.
func TestStory(t *testing.T) {
	lines := make([]line, 6)
	for i := range lines {
		lines[i] = line{Number: i + 1, Barrier: i == 1}
	}
	s := storyOf(&Result{Model: "any"},
		&Failure{Operation: 5, Lost: []string{"1 of 2 parts of write", "rename"},
			missing: []disk.Part{{Op: 3, Part: 1}, {Op: 4}}}, lines)
	if s.Earlier != 2 || len(s.Lines) != 3 || s.Lines[0].Lost || !s.Lines[1].Lost ||
		s.Lines[1].Part != "1 of 2 parts" || !s.Lines[2].Lost || s.Lines[2].Part != "" || !s.Lines[2].End {
		t.Errorf("%+v", s)
	}
	if lines[4].Lost {
		t.Error("the list of operations is changed")
	}
}
