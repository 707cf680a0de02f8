// Package use has no code. Packages below it do what a user asks for: one execution, many of them,
// one that is steered by hand, what a power loss leaves. This folder may import all others. The
// subcommands and the tools import it, and no other folder does.
package use
