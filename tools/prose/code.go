package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// narrowGo returns a file whose wide lines of code are divided: behind a comma or an operator that
// is as little nested as possible, or around the body of a function. Lines that cannot be divided
// stay.
func narrowGo(text []byte) ([]byte, error) {
	for range 20 { // a line may have to be divided more than once
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "", text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		lines := strings.Split(string(text), "\n")
		wide := wideCode(fset, f, lines)
		at := breaks(fset, f, text, lines, wide)
		if len(at) == 0 {
			return text, nil
		}
		var b bytes.Buffer
		from := 0
		for _, to := range at {
			b.Write(bytes.TrimRight(text[from:to], " "))
			b.WriteByte('\n')
			from = to
		}
		b.Write(text[from:])
		narrower, err := format.Source(b.Bytes())
		if err != nil {
			return nil, fmt.Errorf("dividing lines: %w", err)
		}
		if !slices.Equal(tokensOf(text), tokensOf(narrower)) {
			return nil, fmt.Errorf("dividing lines changes more than the ends of lines; the file is left as it is")
		}
		if bytes.Equal(narrower, text) {
			return text, nil
		}
		text = narrower
	}
	return text, nil
}

// breaks are the offsets at which wide lines are divided.
func breaks(fset *token.FileSet, f *ast.File, text []byte, lines []string, wide []int) (at []int) {
	bodies := map[int]bool{}   // offsets of the braces around the bodies of functions
	literals := map[int]bool{} // offsets of the braces that begin composite literals
	ast.Inspect(f, func(n ast.Node) bool {
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.FuncDecl:
			body = n.Body
		case *ast.FuncLit:
			body = n.Body
		case *ast.CompositeLit:
			literals[fset.Position(n.Lbrace).Offset] = true
		}
		if body != nil && len(body.List) > 0 {
			bodies[fset.Position(body.Lbrace).Offset], bodies[fset.Position(body.Rbrace).Offset] = true, true
		}
		return true
	})
	fits := map[int]int{} // by line: the offset at which it is as wide as it may be
	offset := 0
	for i, line := range lines {
		if slices.Contains(wide, i+1) {
			tabs, n := strings.Count(line, "\t"), 0
			for j := range line {
				if n++; n+(tabWidth-1)*tabs > widestCode {
					fits[i+1] = offset + j
					break
				}
			}
		}
		offset += len(line) + 1
	}
	type place struct{ depth, offset int }
	best := map[int]place{}
	var open []bool // by bracket that is open: a list stands in it
	base, line, assigned := 0, 0, false
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, text, nil, 0)
	for pos, tok, lit := s.Scan(); tok != token.EOF; pos, tok, lit = s.Scan() {
		o, l := file.Offset(pos), file.Line(pos)
		if l != line {
			base, line, assigned = len(open), l, false
		}
		end := o + max(len(lit), len(tok.String()))
		switch tok {
		case token.LPAREN, token.LBRACK:
			open = append(open, true)
		case token.LBRACE:
			open = append(open, literals[o])
		case token.RPAREN, token.RBRACK, token.RBRACE:
			open = open[:len(open)-1]
		case token.ASSIGN, token.DEFINE:
			assigned = true
		}
		inList := len(open) > 0 && open[len(open)-1]
		divides := tok == token.COMMA &&
			(inList || assigned || strings.HasPrefix(strings.TrimSpace(lines[l-1]), "return ")) ||
			tok == token.LAND || tok == token.LOR
		body := bodies[o] && (tok == token.LBRACE || tok == token.RBRACE)
		limit, ok := fits[l]
		if !ok || !divides && !body || end > limit {
			continue
		}
		p := place{len(open) - base, end}
		if tok == token.LBRACE {
			p.depth-- // as deep as what it stands in
		}
		if tok == token.RBRACE {
			p.offset = o
		}
		if text[p.offset] == '\n' {
			continue
		}
		if old, ok := best[l]; !ok || p.depth <= old.depth {
			best[l] = p
		}
	}
	for _, p := range best {
		at = append(at, p.offset)
	}
	slices.Sort(at)
	return at
}

// tokensOf are the tokens of a program, without those that the ends of lines make.
func tokensOf(text []byte) (all []string) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, nil, scanner.ScanComments)
	for _, tok, lit := s.Scan(); tok != token.EOF; _, tok, lit = s.Scan() {
		if tok == token.SEMICOLON {
			continue
		}
		all = append(all, tok.String()+" "+strings.Join(strings.Fields(lit), " "))
	}
	return all
}
