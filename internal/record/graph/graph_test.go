package graph_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/record/causal"
	"github.com/ariadne-mc/ariadne/internal/record/graph"

	"golang.org/x/net/html"
)

// hostile are bytes by which a message or a line would like to become a part of the page.
var hostile = []string{
	"</script><script>alert(1)</script>",
	"<!--<script>",
	"]]></style><img src=x onerror=alert(1)>",
	"\u2028\u2029'\"`${alert(1)}\\",
	"&lt;/script&gt;<iframe srcdoc='<script>alert(1)</script>'>",
	"\x00\xff\xfe</SCRIPT ><svg/onload=alert(1)>",
	"http://evil.example/x.js",
}

// execution is one in which a node sends what it is told, writes it, and exposes it.
func execution(texts []string) (steps []ariadne.Step, names world.Names) {
	addr := func(i byte) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, i}) }
	names = world.NewNames([]world.Node{{Name: "n1", Addrs: []netip.Addr{addr(1)}},
		{Name: "n2", Addrs: []netip.Addr{addr(2)}}}, nil)
	flow := ariadne.Flow{Proto: ariadne.TCP, Src: netip.AddrPortFrom(addr(1), 40000),
		Dst: netip.AddrPortFrom(addr(2), 80)}
	start := ariadne.Step{Index: 1, Action: ariadne.Action{Kind: ariadne.ActStart, Node: 0}, Name: "start n1"}
	for i, text := range texts {
		o := &start.Output
		o.Messages = append(o.Messages, ariadne.Message{From: 0, To: 1, Flow: flow, Seq: i + 1, Data: []byte(text)})
		o.Logs = append(o.Logs, ariadne.LogLine{Stream: 1, Text: text})
		o.Exposures = append(o.Exposures,
			ariadne.Shown{Place: i, Exposure: ariadne.Exposure{Name: "x", Values: []string{text}}})
	}
	steps = append(steps, start)
	for i := range texts {
		a := ariadne.Action{Kind: ariadne.ActDeliver, Node: 1, Flow: flow, Seq: i + 1}
		steps = append(steps, ariadne.Step{Index: i + 2, Action: a, Name: names.Action(a), At: ariadne.Time(i) * 1e6})
	}
	return steps, names
}

func drawn(t *testing.T, texts []string) []byte {
	steps, names := execution(texts)
	p := graph.New(causal.New(steps, names, nil), &causal.Words{Names: names}, []string{"n1", "n2"},
		map[int]string{2: "late"})
	p.Name, p.Sentence, p.Violation = texts[0], strings.Join(texts, " "), 2
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestHostileBytes: whatever programs send and write, the page has the same elements, its policy
// lets nothing run but the page's own script, and the data are what they were.
func TestHostileBytes(t *testing.T) {
	shape := func(page []byte) (elements, scripts, styles []string, data string) {
		root, err := html.Parse(bytes.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			words := []string{n.Data}
			kind := ""
			for _, a := range n.Attr {
				words = append(words, a.Key+"="+a.Val)
				if a.Key == "type" {
					kind = a.Val
				}
			}
			elements = append(elements, strings.Join(words, " "))
			switch {
			case n.Data == "script" && kind == "application/json":
				data = n.FirstChild.Data
			case n.Data == "script":
				scripts = append(scripts, n.FirstChild.Data)
			case n.Data == "style":
				styles = append(styles, n.FirstChild.Data)
			}
		}
		return elements, scripts, styles, data
	}
	plain, _, _, _ := shape(drawn(t, []string{"hello"}))
	page := drawn(t, hostile)
	elements, scripts, styles, data := shape(page)
	if strings.Join(elements, "\n") != strings.Join(plain, "\n") {
		t.Errorf("elements:\n%s\nwant:\n%s", strings.Join(elements, "\n"), strings.Join(plain, "\n"))
	}
	if len(scripts) != 1 || len(styles) != 1 {
		t.Fatalf("%d scripts, %d styles", len(scripts), len(styles))
	}
	policy := string(regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindSubmatch(page)[1])
	for _, text := range []string{scripts[0], styles[0]} {
		sum := sha256.Sum256([]byte(text))
		if !strings.Contains(policy, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
			t.Errorf("%s does not name the page's own script and style", policy)
		}
	}
	for _, want := range []string{"default-src 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("%s: no %s", policy, want)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Error(policy)
	}
	var p graph.Picture
	if err := json.Unmarshal([]byte(data), &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Steps) != len(hostile)+1 || len(p.Messages) != len(hostile) || p.Messages[0].Text != hostile[0] ||
		p.Steps[1].Causes[0] != 1 || p.Messages[3].Arrived[0] != 5 {
		t.Errorf("%+v", p)
	}
}

// TestNoRequest: nothing in the page names what would be loaded, and its script has no means of
// asking for anything.
func TestNoRequest(t *testing.T) {
	page := string(drawn(t, []string{"hello"}))
	for _, pattern := range []string{`(?i)\bsrc\s*=`, `(?i)\bhref\s*=`, `url\(`, `@import`, `https?://`, `\bfetch\(`,
		`XMLHttpRequest`, `WebSocket`, `sendBeacon`, `importScripts`, `new Image`, `EventSource`,
		`\beval\(`, `new Function`, `innerHTML`, `outerHTML`, `insertAdjacentHTML`, `document\.write`,
		`setTimeout\(\s*["']`, `window\.open`, `location\s*=`, `\bon\w+\s*=\s*["']`} {
		if found := regexp.MustCompile(pattern).FindString(page); found != "" {
			t.Errorf("the page has %q", found)
		}
	}
}

// TestBeside: a page with two pictures has each of them whole, as the text of an attribute, and
// nothing of what programs send outside of it.
func TestBeside(t *testing.T) {
	var pictures []*graph.Picture
	for _, texts := range [][]string{hostile, {"hello"}} {
		steps, names := execution(texts)
		p := graph.New(causal.New(steps, names, nil), &causal.Words{Names: names}, []string{"n1", "n2"}, nil)
		p.Name, p.Parts = texts[0], 2
		pictures = append(pictures, p)
	}
	var page bytes.Buffer
	if err := pictures[0].WriteBeside(&page, pictures[1]); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(&page)
	if err != nil {
		t.Fatal(err)
	}
	var within []string
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "script" {
			t.Errorf("the outer page has a script: %q", n.FirstChild.Data)
		}
		for _, a := range n.Attr {
			if a.Key == "srcdoc" {
				within = append(within, a.Val)
			}
		}
	}
	if len(within) != len(pictures) {
		t.Fatalf("%d pages within the page", len(within))
	}
	for i, p := range pictures {
		var alone bytes.Buffer
		if err := p.Write(&alone); err != nil {
			t.Fatal(err)
		}
		if within[i] != alone.String() {
			t.Errorf("picture %d is another one beside a picture than alone", i+1)
		}
	}
}
