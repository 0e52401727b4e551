# esmed: build, test and demonstrate. Needs Go and make only.
GO      ?= go
FUZZTIME ?= 10000x
BENCHTIME ?= 1s

.PHONY: build test lint tidy race fuzz bench demo check clean

build: ## bin/esmed and bin/smscsim
	$(GO) build -trimpath -o bin/ ./cmd/esmed ./cmd/smscsim

test: ## all tests
	$(GO) test ./...

lint: ## gofmt, vet, staticcheck
	@out=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); test -z "$$out" || { echo "gofmt needed: $$out"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

tidy: ## go.mod and go.sum are as `go mod tidy` leaves them
	$(GO) mod tidy -diff

race: ## all tests under the race detector, in random order
	GORACE=atexit_sleep_ms=0 $(GO) test -race -shuffle=on ./...

fuzz: ## every fuzz target for FUZZTIME (runs, or a time as 1m)
	@$(GO) list -f '{{.ImportPath}} {{.Dir}}' ./... | while read pkg dir; do \
		for target in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' $$dir/*_test.go 2>/dev/null | cut -c6-); do \
			echo "fuzz $$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
		done; \
	done

bench: ## all benchmarks, with allocations
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...

demo: build ## the main job, end to end, against the simulated SMSC; KEEP=1 leaves both running
	@cmd/smscsim/demo.sh bin

check: lint tidy race fuzz ## what CI runs before make test and make demo

clean:
	rm -rf bin
