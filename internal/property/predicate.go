package property

// Predicate is something that must hold in global states, of what the nodes expose in them: an expression
// in Starlark, in which names are those of what is exposed (internal/script).
type Predicate struct {
	Name string
	Form Form
	Expr string
	Line int // of the spec
}

// Kind is that of the violation of a property. The message begins with its name.
const Kind = "property"

// Form says when a predicate must be true.
type Form uint8

// The forms of predicates.
const (
	Always  Form = iota // in every state
	Never               // in none: it must be false
	Finally             // when an execution ends by itself
)

// Forms are their names.
var Forms = []string{"always", "never", "finally"}
