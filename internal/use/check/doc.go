// Package check explores what a system can do and looks for violations, for as long as its
// budgets last: workers, each with nodes of its own, take paths that a strategy chooses, what
// they find is confirmed by a replay, and a report that is saved now and then tells how far
// it has come. It can be resumed after any end.
//
// It is not the search (internal/explore/search) and its strategies, which know nothing of
// goroutines, clocks and files. It has all three for them. It sets nothing that is the process's
// own, such as the limits of Go's runtime: any number of checks go on in one process, and none
// disturbs another's results.
//
// Locks, in the order in which they are taken: check.confirming; ledger.saving; ledger.mu;
// growth.mu; then those within what the workers of a search share (memo.Memo, memo.Pool,
// coverage.Totals), which call nothing of this package. check.telling comes last, and is
// held while the user's functions run and nothing else.
//
// Read next: check.go, ledger.go, explorer.go, worker.go, living.go, unit.go, joint.go; then
// internal/explore/search.
package check
