// Package work has what a search is given to do and what comes of it, as values with an encoding: a
// Work, and Results, which can be added in any order. Who keeps the account of a check needs
// nothing else of its workers, so these may be in other processes and on other machines.
//
// What it is not: the search, nor the report. It has no lock and keeps no file.
//
// Invariant: sums of Results are the same in whatever order they are added.
//
// Read next: work.go, result.go, add.go, encode.go; then ledger.go, unit.go and joint.go of
// internal/use/check.
package work
