package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Generate makes the case of a seed: calls of one family that belong together, with some of
// others among them, by one process or few.
func Generate(seed uint64) Case {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
	f := families[g.IntN(len(families))]
	g.family = f
	c := Case{Name: fmt.Sprintf("%s-%d", f.name, seed)}
	procs := 1
	add := func(t string) {
		for _, line := range strings.Split(g.expand(t), "; ") {
			if line[0] < '0' || line[0] > '9' {
				line = fmt.Sprintf("%d %s", g.process(procs), line)
			}
			c.Lines = append(c.Lines, line)
		}
	}
	for _, t := range f.begin {
		add(t)
	}
	for range 10 + g.IntN(30) {
		if f.forks && procs < 3 && g.IntN(8) == 0 {
			how := "fork"
			if f.threads && g.IntN(3) > 0 {
				how = "thread"
			}
			add(fmt.Sprintf("%d %s %%%d", g.IntN(procs), how, procs))
			if f.two {
				add(fmt.Sprintf("3 fork %%%d", 3+procs))
			}
			procs++
			continue
		}
		from := f
		if g.IntN(10) == 0 && len(f.with) > 0 {
			from = family(f.with[g.IntN(len(f.with))])
		}
		add(from.calls[g.IntN(len(from.calls))])
	}
	return c
}

type generator struct {
	*rand.Rand
	family *callFamily
}

// process chooses who makes a call, of so many on a machine.
func (g *generator) process(procs int) int {
	p := g.IntN(procs)
	if g.family.two {
		p += 3 * g.IntN(2)
	}
	return p
}

// expand replaces each {name} of a template by one of its values.
func (g *generator) expand(t string) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(t, "{")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		t = after
		out.WriteString(g.pick(name))
	}
}

// pick chooses a value.
func (g *generator) pick(name string) string {
	switch name {
	case "file", "pipe", "ev", "sock":
		if g.IntN(25) == 0 {
			name = "fd"
		}
	case "proc":
		return fmt.Sprintf("%%%d", g.IntN(3))
	case "set":
		return fmt.Sprintf("%#x", uint64(1)<<(g.IntN(35))|uint64(g.IntN(1<<18))<<9)
	}
	values := choices[name]
	if len(values) == 0 {
		panic("kernelfuzz: no choice " + name)
	}
	v := values[g.IntN(len(values))]
	if strings.Contains(v, "{") {
		return g.expand(v)
	}
	return v
}

func family(name string) *callFamily {
	for _, f := range families {
		if f.name == name {
			return f
		}
	}
	panic("kernelfuzz: no family " + name)
}
