// Package work has what a search is given to do and what comes of it, as values with an encoding: a
// Work, and Results, which can be added in any order. The ledger of a check needs nothing else of
// its workers, so these may be in other processes and on other machines.
//
// It is neither the search nor the report. It has no lock and writes no file.
//
// Invariant: sums of Results are the same in whatever order they are added.
//
// Read next: work.go, result.go, add.go, encode.go; then ledger.go, unit.go and joint.go of
// internal/use/check.
package work
