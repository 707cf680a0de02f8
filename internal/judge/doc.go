// Package judge compiles what a user says must hold: properties of what nodes expose, stages that
// make tuples of tuples, and models of what clients have done. A Judge decides about snapshots and
// histories that are shown to it.
//
// It needs nothing of what searches, since it is to judge systems that nobody steers, too. Packages
// below it have the parts: what nodes expose, stages, histories, kinds of violation, Starlark. This
// folder may import leaf and the nouns. All folders but leaf and machine may import it.
//
// Read next: properties.go, stages.go, model.go; then internal/judge/script.
package judge
