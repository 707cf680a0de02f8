# make demo    builds Ariadne, checks examples/raftkv and finds the bug planted there
# make test    runs all tests; installs what they need when it can (root or sudo)
# The others:
#   build      bin/ariadne
#   release    dist: a static binary, a Debian package, checksums
#   lint       what staticcheck finds; a part of make test, as is the test of tools/prose
#   test-long  what make test leaves out for its length, the race detector, and every fuzz test for a minute
#   fuzz-kernel  compares the emulated kernel with Linux: CALLS system calls of all kinds, made up
#   suites     runs the test programs of DIR, a suite of system-call tests built elsewhere, natively and here
#   bench      what things cost on this machine; writes bench.json and the table of docs/results/costs.md
#   bench-short  some of it in ten minutes, without the table; OLD is another binary to compare with
#   profile    renews cmd/ariadne/default.pgo, by which the compiler decides what it inlines
#   figures    runs the searches of docs/results/figures.md on examples/paxos; writes docs/results/figures
#   compat     runs the real programs of examples/; writes docs/results/compatibility.md
#   bugs       looks for documented bugs of real programs; writes docs/results/bugs.md
#   papers     looks for bugs that papers describe, in programs of ours; writes docs/results/papers.md
#   sweep      fails each call of some real programs once; writes docs/results/sweep.md
#   faulty     runs real programs through random faults of all kinds; writes docs/results/faulty.md
#   findings   searches real programs under ready-made properties; writes docs/results/findings.md
#   explained  explains the violations of known bugs; writes docs/results/explained.md
#   timers     lists places in real programs that decide by the clock; writes docs/results/timers.md
#   storage    lets programs that store things lose their power; writes the table of docs/results/storage.md
#   stacks     checks the storage stacks of the eXplode paper; writes the tables of docs/results/stacks.md
#   results    lets the strategies look for known bugs; writes docs/results/strategies.md
#   generate   renews the generated pages in docs/

GO ?= go

# Pages that are generated are wrapped as all others are.
WRAP = $(GO) run ./tools/prose -w docs

.PHONY: build release demo test test-long fuzz-kernel suites bench bench-short profile figures compat bugs papers results sweep faulty findings explained timers storage stacks packages lint generate clean

build:
	$(GO) build -ldflags='-E main.start' -o bin/ariadne ./cmd/ariadne

release:
	@GO='$(GO)' scripts/release

demo: build
	@examples/raftkv/fetch
	@scripts/demo

test: packages lint
	$(GO) run ./tools/testsum -timeout 30m ./...

test-long: packages
	ARIADNE_LONG=1 $(GO) run ./tools/testsum -timeout 12h ./...
	$(GO) run ./tools/testsum -race -timeout 1h ./...
	scripts/fuzz 60s

CALLS ?= 100000
fuzz-kernel: build
	$(GO) run ./tools/kernelfuzz -calls $(CALLS)

suites: build
	$(GO) run ./tools/suites $(SUITEFLAGS) $(DIR)

bench: build
	$(GO) build -o bin/bench ./tools/bench
	bin/bench -document docs/results/costs.md
	@$(WRAP)

bench-short: build
	$(GO) build -o bin/bench ./tools/bench
	bin/bench -short $(if $(OLD),-old $(OLD))

profile: build
	$(GO) run ./tools/profile

figures: build
	examples/paxos/fetch
	$(GO) run ./tools/figures
	@$(WRAP)

compat: build
	$(GO) run ./tools/compat
	@$(WRAP)

bugs: build
	$(GO) run ./tools/bugs
	@$(WRAP)

papers: build
	$(GO) run ./tools/bugs -papers -budget 2m
	@$(WRAP)

results: build
	$(GO) run ./tools/results
	@$(WRAP)

sweep: build
	for d in $$(sed -n 's,^- spec: \(.*\)/.*,\1,p' examples/sweep.yaml | sort -u); do examples/$$d/fetch || exit 1; done
	$(GO) run ./tools/sweep
	@$(WRAP)

faulty: build
	$(GO) run ./tools/faulty
	@$(WRAP)

findings: build
	$(GO) run ./tools/findings
	@$(WRAP)

explained: build
	$(GO) run ./tools/explained
	@$(WRAP)

timers: build
	$(GO) run ./tools/timers
	@$(WRAP)

storage: build
	examples/storage/fetch
	$(GO) run ./tools/storage
	@$(WRAP)

stacks: build
	examples/disk/fetch
	$(GO) run ./tools/stacks
	@$(WRAP)

packages:
	@scripts/packages

lint:
	$(GO) tool staticcheck ./...

generate:
	$(GO) generate ./...

clean:
	rm -rf bin dist
