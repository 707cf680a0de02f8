// Package record keeps what came of a command on disk: the run directory, which one command
// uses at a time, the report, the records of executions, and what a check that is resumed
// needs besides. It decides what a report says (verdict.go), and executes nothing.
//
// A run directory has
//
//	spec.yaml        a copy of the spec
//	report.json      the Report, as far as it goes
//
// and the record of the execution of a run or a replay:
//
//	trace.txt        what a replay follows
//	trace.txt.calls  the system calls of each step
//	trace.txt.host   what of the host the trace does not hold for, but may explain it
//	steps.jsonl      each step with its messages
//	timeline.txt     the same for people
//	nodes/NAME.log   what each node wrote
//
// The directory of a check has such a record of its first execution in
// execution-0/ (the natural schedule, unless it was asked to begin elsewhere), of
// each violation in violation-N/ and of what did not happen again in
// unconfirmed-N/. Of random walks it has the trace of the first that ended in each
// way, in execution-N/. A search in memory adds
//
//	coverage.csv     how much was seen, as it grew
//	coverage.svg     the same as a plot
//	coverage.seen    what was seen, so that a resumed check goes on counting; of random
//	                 searches, which do not walk again (coverage.Log)
//	memo.db          what the nodes did, so that the next check in this directory
//	                 starts warm; without a directory of its own, a check has it in
//	                 NAME.memo.db beside its run directory
//	corpus.json      beginnings of paths with which the next check begins; likewise,
//	                 NAME.corpus.json
//
// Invariant: files are replaced in one go or appended to line by line, so
// that an end at any moment leaves what was there. The report comes first: a
// directory without one is empty, but for a report that was being written.
//
// Package report lays out what people read, and causal explains an execution. The folder
// may import system, explore, judge, leaf and the nouns; use may import it.
//
// Read next: dir.go, report.go, recorder.go; then internal/use/run and internal/use/check.
package record
