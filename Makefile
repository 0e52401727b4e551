# esmed: build, test and demonstrate. Needs Go and make only.
GO      ?= go
FUZZTIME ?= 10000x
BENCHTIME ?= 1s
BENCH_STORED ?= 0 100000 1000000# messages in the store before; 10000000 takes a while and 27 GB
BENCH_EACH ?= 10s# how long each case submits
BENCH_OUT ?= bin/bench# results and drawings
BENCH_DIR ?= $(or $(TMPDIR),/tmp)# where stores are, on the disk that is measured
BASE ?= HEAD# what bench-compare compares the working tree with
COUNT ?= 6

DIST := cmd/esmed/dist
ARCHES := amd64 arm64# of make release
ARCH ?= $(shell $(GO) env GOARCH)# of make deb and make rpm

.PHONY: build test lint tidy race fuzz bench bench-compare bench-go demo check release deb rpm test-packages clean

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
	GORACE=atexit_sleep_ms=0 $(GO) test -race -shuffle=on -timeout 20m ./...

fuzz: ## every fuzz target for FUZZTIME (runs, or a time as 1m)
	@$(GO) list -f '{{.ImportPath}} {{.Dir}}' ./... | while read pkg dir; do \
		for target in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' $$dir/*_test.go 2>/dev/null | cut -c6-); do \
			echo "fuzz $$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
		done; \
	done

comma := ,
empty :=
space := $(empty) $(empty)

bench: build ## whole lives against the simulated SMSC, beside what a plain file does; some minutes
	$(GO) build -trimpath -o bin/ ./cmd/esmbench
	mkdir -p $(BENCH_OUT)
	bin/esmbench bench --stored $(subst $(space),$(comma),$(strip $(BENCH_STORED))) --each $(BENCH_EACH) --dir $(BENCH_DIR) --results $(BENCH_OUT)/results.json
	bin/esmbench plot $(BENCH_OUT)/results.json -o $(BENCH_OUT)

bench-compare: ## the daemon of BASE and of the working tree, in turn; benchstat says what differs
	$(GO) build -trimpath -o bin/ ./cmd/esmbench
	bin/esmbench compare --base $(BASE) --count $(COUNT) --dir $(BENCH_DIR)

bench-go: ## benchmarks of single packages, with allocations
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...

demo: build ## the main job, end to end, against the simulated SMSC; KEEP=1 leaves both running
	@cmd/smscsim/demo.sh bin

check: lint tidy race fuzz ## what CI runs before make test and make demo

release: ## bin/release: static binaries for Linux on amd64 and arm64, and their sums
	rm -rf bin/release
	@for arch in $(ARCHES); do for program in esmed smscsim; do \
		echo "build $$program for $$arch"; \
		GO=$(GO) $(DIST)/static.sh $$arch $$program bin/release/$$program-linux-$$arch || exit 1; \
	done; done
	cd bin/release && sha256sum * >SHA256SUMS

deb rpm: ## bin/*.deb or bin/*.rpm; ARCH=arm64 for another machine, PACKAGE_VERSION=1.2.3 in place of what the program says
	@GO=$(GO) $(DIST)/package/build.sh $@ $(ARCH)

test-packages: ## both packages, and the deb's whole life on a new Debian; needs root, debootstrap, rpm and systemd-nspawn
	$(DIST)/package/test.sh

clean:
	rm -rf bin
