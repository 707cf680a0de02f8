package history

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Data is a kind of data that clients' operations are about. Its states are texts, in one spelling
// each.
type Data struct {
	Name, Doc string
	// words are what clients may call operations.
	words map[string][]string
	// reads are those without an effect.
	reads []string
	// check says what is wrong with an operation, nil: nothing ever is.
	check func(o *operation) error
	// first spells what it holds at first; nil: as it is written.
	first func(initial string) (state string, err error)
	// step is what an operation makes of a state; not ok: it cannot have come to this result there.
	// Of one that is pending the result is not known.
	step func(state string, o *operation) (next string, ok bool)
}

// staleRead is what an operation is called by which a client asks for what may be old: it counts
// where what clients see is sequential, and not where it is to be up to date.
const staleRead = "stale-read"

// Kinds are all kinds of data, by name.
var Kinds = []*Data{
	{
		Name: "register", Doc: "read, get or range; write, set or put; cas, whose value has two words: the expected value and the new one; delete or del",
		words: map[string][]string{"read": {"read", "get", "range", staleRead}, "write": {"write", "set", "put"},
			"delete": {"delete", "del"}, "cas": {"cas"}}, reads: []string{"read"},
		step: register,
	},
	{
		Name: "counter", Doc: "add or increment, whose value is a number (default 1), and whose result, if it has one, is the sum; read or get",
		words: map[string][]string{"read": {"read", "get"},
			"add": {"add", "increment", "incr", "incrby", "decr", "decrby"}}, reads: []string{"read"},
		check: amount, first: func(initial string) (string, error) { return number(initial, "0") },
		step: counter,
	},
	{
		Name: "set", Doc: "add; remove; contains, whose result is true or false; read, whose result is the elements in any order",
		words: map[string][]string{"read": {"read", "get", "smembers"}, "add": {"add", "sadd"},
			"remove": {"remove", "delete", "srem"}, "contains": {"contains", "has", "sismember"}},
		reads: []string{"read", "contains"},
		check: oneWord, first: func(initial string) (string, error) { return elements(initial), nil },
		step: set,
	},
	{
		Name: "list", Doc: "append; read, whose result is the elements in order",
		words: map[string][]string{"read": {"read", "get", "lrange"}, "append": {"append", "add", "rpush"}},
		reads: []string{"read"},
		check: oneWord, first: func(initial string) (string, error) { return words(initial), nil },
		step: list,
	},
	{
		Name: "queue", Doc: "enqueue, send or push; dequeue, receive or pop, whose result is the oldest element, or empty when the queue is empty",
		words: map[string][]string{"enqueue": {"enqueue", "send", "push", "rpush"},
			"dequeue": {"dequeue", "receive", "pop", "lpop"}},
		check: oneWord, first: func(initial string) (string, error) { return words(initial), nil },
		step: queue,
	},
	{
		Name: "bank", Doc: "transfer, whose value is as in \"a b 5\": 5 from a to b, if a has as much; read, whose result is as in \"a=5 b=15\"",
		words: map[string][]string{"read": {"read", "get"}, "transfer": {"transfer"}}, reads: []string{"read"},
		check: transfer, first: balances,
		step: bank,
	},
}

// Names are those of all kinds of data.
func Names() (all []string) {
	for _, d := range Kinds {
		all = append(all, d.Name)
	}
	return all
}

// Named returns the kind of data of a name, or nil.
func Named(name string) *Data {
	i := slices.IndexFunc(Kinds, func(d *Data) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return Kinds[i]
}

// called is which operation a client calls so, or "".
func (d *Data) called(op string) string {
	if d.words == nil {
		return op
	}
	for what, all := range d.words {
		if slices.Contains(all, op) {
			return what
		}
	}
	return ""
}

// drops reports whether nothing is known of an operation, and nothing comes of it.
func (d *Data) drops(o *operation) bool { return o.pending && slices.Contains(d.reads, o.what) }

// New makes a property of what is claimed of the data.
func (d *Data) New(c Claim) (p Property, err error) {
	p = Property{Claim: c, data: d, first: c.Initial}
	if c.Level == Durable && d.reads == nil {
		return p, fmt.Errorf("durable needs operations that only read, and a %s has none", d.Name)
	}
	if d.first != nil {
		if p.first, err = d.first(c.Initial); err != nil {
			err = fmt.Errorf("initial: %w", err)
		}
	}
	return p, err
}

// Model is data by a model of the user's: what step makes of a state for an operation and its
// result. It is not called from two goroutines at once. After an error nothing more is judged.
func Model(name string, step func(state, op, value, result string, pending bool) (next string, ok bool)) *Data {
	return &Data{Name: name, step: func(state string, o *operation) (string, bool) {
		return step(state, o.Op, o.Value, o.result, o.isOpen())
	}}
}

func register(state string, o *operation) (next string, ok bool) {
	switch o.what {
	case "read":
		return state, o.result == state
	case "cas":
		// What it found otherwise is a failure, and had no effect.
		if from, to, ok := strings.Cut(o.Value, " "); ok && from == state {
			return to, true
		}
		return state, false
	case "delete":
		return "", true
	}
	return o.Value, true
}

func counter(state string, o *operation) (next string, ok bool) {
	sum, _ := strconv.Atoi(state)
	if o.what == "add" {
		n, _ := number(o.Value, "1")
		by, _ := strconv.Atoi(n)
		next = strconv.Itoa(sum + by)
		return next, o.isOpen() || o.result == "" || o.result == next
	}
	seen, err := number(o.result, "0")
	return state, err == nil && seen == state
}

func set(state string, o *operation) (next string, ok bool) {
	all := strings.Fields(state)
	at, has := slices.BinarySearch(all, o.Value)
	switch o.what {
	case "add":
		if has {
			return state, true
		}
		return strings.Join(slices.Insert(all, at, o.Value), " "), true
	case "remove":
		if !has {
			return state, true
		}
		return strings.Join(slices.Delete(all, at, at+1), " "), true
	case "contains":
		said, err := strconv.ParseBool(o.result)
		return state, err == nil && said == has
	}
	return state, elements(o.result) == state
}

func list(state string, o *operation) (next string, ok bool) {
	if o.what == "append" {
		return words(state + " " + o.Value), true
	}
	return state, words(o.result) == state
}

func queue(state string, o *operation) (next string, ok bool) {
	if o.what == "enqueue" {
		return words(state + " " + o.Value), true
	}
	first, rest, _ := strings.Cut(state, " ")
	return rest, o.isOpen() || o.result == first
}

func bank(state string, o *operation) (next string, ok bool) {
	if o.what == "read" {
		seen, err := balances(o.result)
		return state, err == nil && seen == state
	}
	w := strings.Fields(o.Value)
	n, _ := strconv.Atoi(w[2])
	accounts, _ := parseBalances(state)
	if accounts[w[0]] < n {
		return state, false // it would have been refused
	}
	accounts[w[0]] -= n
	accounts[w[1]] += n
	return spell(accounts), true
}

// oneWord: an element is one.
func oneWord(o *operation) error {
	changes := slices.Contains([]string{"add", "remove", "append", "enqueue"}, o.what)
	if changes && (o.Value == "" || strings.Contains(o.Value, " ") || words(o.Value) != o.Value) {
		return fmt.Errorf("%s %q: an element is one word without brackets and commas", o.Op, o.Value)
	}
	return nil
}

func amount(o *operation) error {
	if o.what != "add" {
		return nil
	}
	_, err := number(o.Value, "1")
	return err
}

func transfer(o *operation) error {
	if o.what != "transfer" {
		return nil
	}
	w := strings.Fields(o.Value)
	if len(w) == 3 {
		if n, err := strconv.Atoi(w[2]); err == nil && n >= 0 {
			return nil
		}
	}
	return fmt.Errorf("transfer %q: write it as in \"a b 5\"", o.Value)
}

// number spells one; "" is other.
func number(text, other string) (string, error) {
	if text == "" {
		text = other
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return "", fmt.Errorf("%q is not a whole number", text)
	}
	return strconv.Itoa(n), nil
}

// words spells elements in their order, which may stand in brackets and between commas.
func words(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \t,;[]{}()", c) }),
		" ")
}

// elements spells those of a set.
func elements(text string) string {
	all := strings.Fields(words(text))
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

// balances spells what is on accounts: those with nothing do not count.
func balances(text string) (string, error) {
	all, err := parseBalances(text)
	if err != nil {
		return "", err
	}
	return spell(all), nil
}

func parseBalances(text string) (map[string]int, error) {
	all := map[string]int{}
	for _, w := range strings.Fields(words(text)) {
		name, amount, ok := strings.Cut(w, "=")
		n, err := strconv.Atoi(amount)
		if _, twice := all[name]; !ok || err != nil || twice {
			return nil, fmt.Errorf("balances %q: write them as in \"a=5 b=15\"", text)
		}
		all[name] = n
	}
	return all, nil
}

func spell(accounts map[string]int) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(accounts)) {
		if n := accounts[name]; n != 0 {
			texts = append(texts, fmt.Sprintf("%s=%d", name, n))
		}
	}
	return strings.Join(texts, " ")
}
