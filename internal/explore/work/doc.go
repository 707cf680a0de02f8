// Package work has what a search is given to do and what comes of it, as values: a Result can be added to others in any order.
// Who keeps the account of a check needs nothing else of its workers.
//
// What it is not: the search, nor the report. It has no lock and keeps no file.
//
// Invariant: sums of Results are the same in whatever order they are added.
//
// Read next: result.go, add.go; then ledger.go of internal/check.
package work
