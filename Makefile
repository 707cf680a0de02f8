# make demo    builds Ariadne, checks examples/raftkv and finds the bug planted there
# make test    runs all tests; installs what they need when it can (root or sudo)
# The others: build, test-long (random walks and replays over all examples), bench, compat.

GO ?= go

.PHONY: build demo test test-long bench compat packages generate clean

build:
	$(GO) build -o bin/ariadne ./cmd/ariadne

demo: build
	@examples/raftkv/fetch
	@scripts/demo

test: packages
	$(GO) run ./internal/testsum -timeout 15m ./...

test-long: packages
	ARIADNE_LONG=1 $(GO) run ./internal/testsum -timeout 3h ./...

bench: build
	$(GO) run ./internal/bench

compat: build
	$(GO) run ./internal/compat

packages:
	@scripts/packages

generate:
	$(GO) generate ./...

clean:
	rm -rf bin
