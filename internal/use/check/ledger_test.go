package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneLedger: what workers have found comes into the report by ledger.merge alone. No other file
// takes its lock or changes what it sums up.
func TestOneLedger(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	own := map[string]bool{"mu": true, "sum": true, "saved": true, "totals": true, "nearby": true, "kept": true}
	locks := 0
	for _, name := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || !own[s.Sel.Name] {
				return true
			}
			of := ""
			switch x := s.X.(type) {
			case *ast.SelectorExpr:
				of = x.Sel.Name
			case *ast.Ident:
				of = x.Name
			}
			switch {
			case name == "ledger.go" && of == "l" && s.Sel.Name == "mu":
				locks++
			case of == "ledger" && !strings.HasSuffix(name, "_test.go"):
				t.Errorf("%s uses ledger.%s", name, s.Sel.Name)
			}
			return true
		})
	}
	if locks == 0 {
		t.Error("the ledger has no lock")
	}
	t.Logf("the ledger takes its lock in %d places", locks/2)
}
