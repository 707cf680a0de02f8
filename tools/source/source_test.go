package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

func TestReceiver(t *testing.T) {
	const text = `package p
func f() {}
func (T) f() {}
func (t *T) f() {}
func (t *List[E]) f() {}
func (t Map[K, V]) f() {}
`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "T", "T", "List", "Map"} {
		if got := Receiver(file.Decls[i].(*ast.FuncDecl)); got != want {
			t.Errorf("declaration %d: %q, not %q", i, got, want)
		}
	}
}
