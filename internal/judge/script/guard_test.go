package script

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.starlark.net/starlark"
)

// hostile are scripts that would take all memory there is, or more stack than Go has.
var hostile = []string{
	"x = [0] * 10**9", // no such operator, but
	"x = [0] * 1000000000",
	"x = 1000000000 * (0,)",
	"x = 'abcdefgh' * 100000000",
	"x = b'abcdefgh' * 100000000",
	"x = [0]\nwhile True: x = x + x",
	"x = [0]\nwhile True: x += x",
	"x = [0]\nwhile True: x *= 2",
	"x = ['a']\nwhile True: x[0] += x[0]",
	"x = {'a': 'a'}\nwhile True: x['a'] = x['a'] + x['a']",
	"x = 'a'\nwhile True: x += x",
	"x = 'a'\nl = []\nwhile True:\n  x += 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'\n  l.append(x)",
	"x = 'a'\nwhile True: x = '%s%s' % (x, x)",
	"x = 'a'\nwhile True: x = '{0}{0}'.format(x)",
	"x = 'aa'\nwhile True: x = x.replace('a', x)",
	"x = 'aa'\nwhile True: x = x.join([x, x, x])",
	"x = 'aa'\nwhile True: x = getattr(x, 'join')([x, x, x])",
	"x = 'aa'\nf = x.join\nwhile True: f = f([x] * 100000).join",
	"x = 3\nwhile True: x = x * x",
	"x = 3\nwhile True: x *= x",
	"x = int('9' * 10000000)",
	"x = list(range(1000000000))",
	"x = tuple(range(1000000000))",
	"x = set(range(1000000000))",
	"x = sorted(range(1000000000))",
	"x = reversed(range(1000000000))",
	"x = enumerate(range(1000000000))",
	"x = zip(range(1000000000), range(1000000000))",
	"x = dict(zip(range(10000000), range(10000000)))",
	"x = dict([(i, i) for i in range(100000)])\nl = [x.items() for i in range(100000)]",
	"x = []\nx.extend(range(1000000000))",
	"x = []\nx += range(1000000000)",
	"x = set()\nx.update(range(1000000000))",
	"x = set().union(range(1000000000))",
	"def f(*args): pass\nf(*range(1000000000))",
	"x = list(range(1000000))\nl = [x[:] for i in range(1000000)]",
	"x = list(range(1000000))\nl = [x[1:] for i in range(1000000)]",
	"x = list(range(1000000))\nl = [list(x) for i in range(1000000)]",
	"x = 'a' * 1000000\nl = [x.upper() for i in range(1000000)]",
	"x = 'a,' * 1000000\nl = [x.split(',') for i in range(1000000)]",
	"x = 'a' * 1000000\nl = [list(x.codepoints()) for i in range(1000000)]",
	"x = 'a'\nfor i in range(60): x = [x, x]\ny = str(x)",
	"x = 'a'\nfor i in range(60): x = [x, x]\nprint(x)",
	"x = 'a'\nfor i in range(60): x = {'a': x, 'b': x}\ny = json.encode(x)",
	"x = 'a'\nfor i in range(60): x = [x, x]\nfail(x)",
	"x = []\nfor i in range(1000000): x = [x]\ny = str(x)",
	"x = []\nfor i in range(1000000): x = [x]\ny = json.encode(x)",
	"x = json.decode('[' * 10000000)",
	"x = json.indent('[' * 1000 + ']' * 1000, indent='a' * 1000000)",
	"x = [{} for i in range(3000000)]",
	"while True: print('a' * 1000)",
	"x = []\nwhile True: x = [x]", // is frozen at its end
	strings.Repeat("(", 1<<17),
	"x = " + strings.Repeat("-", 1<<17) + "1",
	"x = " + strings.Repeat("[", 1<<17) + strings.Repeat("]", 1<<17),
	"x = " + strings.Repeat("lambda: ", 1<<14) + "1",
}

// inFunction is a script whose text is in a function, where names may change.
func inFunction(src string) string {
	return "def main():\n  y = 0\n  " + strings.ReplaceAll(src, "\n", "\n  ") + "\n  return y\nresult = main()\n"
}

// run executes a script. Its error is an *Error.
func run(src string) (starlark.StringDict, error) {
	globals, err := Exec(NewThread("x.star", nil), "x.star", src, Predeclared)
	if err != nil {
		return nil, Located("x.star", err)
	}
	return globals, nil
}

// TestMemoryIsBounded: what a script does, it ends soon, with an error, and without much
// memory.
func TestMemoryIsBounded(t *testing.T) {
	defer func(was int) { memory = was }(memory)
	memory = 64 << 20
	for _, src := range hostile {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		_, err := run(inFunction(src) + "\n")
		runtime.ReadMemStats(&after)
		name, _, _ := strings.Cut(src[:min(len(src), 60)], "\n")
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
		if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > 800 {
			t.Errorf("%s: %d MB", name, taken)
		}
		if testing.Verbose() && e != nil {
			t.Logf("%v %s: %.100s, %d MB", time.Since(began), name, e.Text, (after.TotalAlloc-before.TotalAlloc)>>20)
		}
	}
}

// TestDeepListsAreFrozen: a script may leave lists as deep as its steps allow.
func TestDeepListsAreFrozen(t *testing.T) {
	for _, src := range []string{"x = []\nfor i in range(600000): x = [x]\n",
		"x = ()\nfor i in range(600000): x = (x,)\ny = {x: 1}\n"} {
		globals, err := run(inFunction(src + "y = x"))
		if err != nil {
			t.Error(err)
		}
		globals.Freeze()
	}
}

// TestGuardsChangeNothing: what is guarded does what the interpreter does.
func TestGuardsChangeNothing(t *testing.T) {
	for _, src := range []string{
		"1 + 2 * 3 - 4", "'a' + 'b' * 3", "[1] * 2 + [3]", "3 * (1, 2)", "'%s-%d' % ('a', 3)", "7 % 3", "-7 % 3",
		"{1: 2} | {3: 4}",
		"set([1, 2]) & set([2])", "set([1, 2]) - set([2])", "set([1]) ^ set([2])", "5 & 3", "5 ^ 3", "1.5 + 2",
		"'abc'[1:]", "[1, 2, 3][::-1]",
		"'a,b'.split(',')", "' a '.strip().upper()", "','.join(['a', 'b'])", "'{} {x}'.format(1, x=2)",
		"'aXbX'.replace('X', 'yy')",
		"[x * 2 for x in range(5) if x % 2]", "{x: x + 1 for x in [1, 2]}", "(lambda a, b=1 + 1: a + b)(1)",
		"(lambda *a, **k: (a, k))(*[1, 2], **{'x': 3})",
		"sorted([3, 1, 2], key=lambda x: -x)", "list(zip([1, 2], 'ab'.elems()))", "dict(a=1, b=2)", "{'a': 1}.items()",
		"getattr('a', 'upper')()",
		"hasattr('a', 'upper')", "json.decode('[1, {\"a\": 2}]')", "json.encode({'a': [1, 2]})", "json.indent('[1]')",
		"math.floor(1.5)",
		"str([1, 'a'])", "repr('a')", "min(3, 1)", "max([1, 5], key=lambda x: -x)", "any([0, 1])", "len('abc')",
		"enumerate(['a'])", "reversed([1, 2])",
		"type(1)", "1 if 2 > 1 else 3", "not [] and 1 or 2", "[1, 2] == [1, 2]", "2 in [1, 2]", "int('12') + int(3.0)",
		"(1, (2, 3))[1][0]", "bytes([65])", "chr(97) + 'b'",
		"1 + 'a'", "'a'.foo", "[1].bar()", "'%d' % 'x'", "nothing + 1", "'a' * 'b'", "{} + {}", "list(1)",
		"getattr('a', 'nope')", "getattr('a', 'nope', 3)",
	} {
		want, wantErr := starlark.EvalOptions(options, &starlark.Thread{}, "x.star", src,
			starlark.StringDict{"json": starlark.None, "math": starlark.None})
		if strings.HasPrefix(src, "json.") || strings.HasPrefix(src, "math.") {
			want, wantErr = nil, nil
		}
		globals, err := run("y = " + src + "\n")
		switch {
		case (err == nil) != (wantErr == nil):
			t.Errorf("%s: %v, want %v", src, err, wantErr)
		case err != nil && !strings.HasSuffix(Located("", err).Text, Located("", wantErr).Text):
			t.Errorf("%s: %s, want %s", src, Located("", err).Text, Located("", wantErr).Text)
		case err == nil && want != nil && globals["y"].String() != want.String():
			t.Errorf("%s: %v, want %v", src, globals["y"], want)
		}
	}
	for src, want := range map[string]string{
		"y = [1]\nz = y\ny += [2]":         "[1, 2]",
		"y = 'a'\ny += 'b'":                "\"ab\"",
		"y = {'a': [1]}\ny['a'] += (2,)":   "{\"a\": [1, 2]}",
		"y = 7\ny %= 4\ny *= 2\ny -= 1":    "5",
		"y = 6\ny |= 1\ny &= 5\ny ^= 1":    "4",
		"y = [0, 1]\ni = 0\ny[i + 1] += 5": "[0, 6]",
		"y = []\ndef f(n):\n  if n > 2: return n * 2\n  return\nfor i in range(5):\n  if i == 1: continue\n  y.append(f(i))": "[None, None, 6, 8]",
		"(y, z) = ('a' + 'b', 1)": "\"ab\"",
	} {
		globals, err := run(inFunction(src))
		if err != nil || globals["result"].String() != want {
			t.Errorf("%s: %v, %v, want %s", src, globals["result"], err, want)
		}
	}
	if _, err := run("def f(): return 0\ny = [1]\ny[f()] += 1\n"); err == nil ||
		!strings.Contains(err.Error(), "assign the result of the call to a name first") {
		t.Error(err)
	}
}
