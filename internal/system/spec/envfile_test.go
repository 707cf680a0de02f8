package spec

import (
	"maps"
	"strings"
	"testing"
)

func TestParseEnv(t *testing.T) {
	for _, c := range []struct {
		text string
		want map[string]string
		err  string
	}{
		{"", map[string]string{}, ""},
		{"A=1\n\n # c\n; c\nB=2", map[string]string{"A": "1", "B": "2"}, ""},
		{"A=a b  \t\r\nB= \nC=", map[string]string{"A": "a b", "B": "", "C": ""}, ""},
		{"A=x # no comment\nexport B=1\n C = 1 ", map[string]string{"A": "x # no comment", "B": "1", "C": "1"}, ""},
		{`A="q # 'r' "` + "\nB='x \"y\" \\n'", map[string]string{"A": "q # 'r' ", "B": `x "y" \n`}, ""},
		{`A="a\"b\n\$HOME\\"`, map[string]string{"A": `a"b\n$HOME\`}, ""},
		{`A="a"b` + "\nB='a' \"b\" c\nC=a\"b\"", map[string]string{"A": "ab", "B": "abc", "C": `a"b"`}, ""},
		{"A=a\\ b\\\nc\nB=\"one\\\ntwo\nthree\"\nC=1\\", map[string]string{"A": "a bc", "B": "onetwo\nthree", "C": "1"},
			""},
		{"# c \\\nA=1\nB=2", map[string]string{"B": "2"}, ""},
		{"A=1\n# c\nB", nil, `line 3: NAME=value is needed, not "B"`},
		{"A=\"1\n2\"\n-=1", nil, `line 3: NAME=value is needed, not "-=1"`},
		{"A=1\nB='x\n\n", nil, "line 2: a quote is not closed"},
		{`A="x\"`, nil, "line 1: a quote is not closed"},
		{"A=\x00", nil, "line 1: a NUL byte cannot stand in a value"},
	} {
		got := map[string]string{}
		err := parseEnv(c.text, got)
		switch {
		case c.err != "" && (err == nil || err.Error() != c.err):
			t.Errorf("%q: %v, want %s", c.text, err, c.err)
		case c.err == "" && (err != nil || !maps.Equal(got, c.want)):
			t.Errorf("%q: %q, %v, want %q", c.text, got, err, c.want)
		}
	}
}

func FuzzParseEnv(f *testing.F) {
	f.Add("A=1\n# c\\\nB=\"x\\\"y\" 'z' \\\n w")
	f.Fuzz(func(t *testing.T, text string) {
		env := map[string]string{}
		if parseEnv(text, env) != nil {
			return
		}
		for name, value := range env {
			again := map[string]string{}
			if strings.Contains(value, "'") {
				continue
			}
			if err := parseEnv(name+"='"+value+"'", again); err != nil || again[name] != value {
				t.Errorf("%q: %s is %q, and in quotes %q, %v", text, name, value, again[name], err)
			}
		}
	})
}
