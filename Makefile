.PHONY: build demo evals test check bench fuzz torture

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
STATICCHECK = go run honnef.co/go/tools/cmd/staticcheck@v0.8.2

# All programs, into bin/.
build:
	go build -ldflags '-X main.version=$(VERSION)' -o bin/ ./cmd/...

# The whole story in one go, on a database of its own.
demo: build
	./bin/countersign demo

# Every scenario of evals/ as it was recorded, then a retail benchmark's calls.
evals: build
	./bin/countersign-evals
	./bin/countersign-evals retail

test:
	go test -timeout 30m ./...

# What continuous integration checks beside the tests.
check:
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	go vet ./...
	$(STATICCHECK) ./...
	go mod tidy -diff
	go test -timeout 30m -race -shuffle=on ./...

# KILLS kills at random moments, and many processes with 1,000 calls each. It
# takes about as many seconds as there are tens of kills, on two idle cores. Then
# LINES spoiled lines of the protocol.
KILLS ?= 10000
LINES ?= 1000000
torture:
	COUNTERSIGN_TORTURE=$(KILLS) go test ./cmd -run 'Torture|ManyProcesses' -v -count=1 -timeout 0
	COUNTERSIGN_LINES=$(LINES) go test ./tools/server -run GeneratedLines -v -count=1 -timeout 0

# One server at full load for SOAK, its memory and open files watched.
.PHONY: soak
SOAK ?= 30m
soak:
	COUNTERSIGN_SOAK=$(SOAK) go test ./cmd -run Soak -v -count=1 -timeout 0

# Speed, beside a floor of the same run. COUNTERSIGN_GROWTH=1000000 makes the
# shop of BenchmarkGrowth that large.
bench:
	go test ./tools ./store ./policy -run '^$$' -bench . -benchmem

# Every fuzz target for FUZZTIME; what it finds becomes a seed in testdata. Where
# calls run at once, coverage differs between runs of one input: minimizing by it
# would take all of the time.
FUZZTIME ?= 1m
fuzz:
	@for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			go test $$package -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x || exit 1; \
		done; \
	done

# Every customer of the retail shop tries the orders of every other one, and has
# their data go through every tool. Minutes.
.PHONY: everybody
everybody:
	COUNTERSIGN_PAIRS=499 go test ./tools -run NobodyReachesAnothersOrder -count=1 -timeout 0
	COUNTERSIGN_PEOPLE=500 go test ./evals -run PersonalDataReachesNoLog -count=1 -timeout 0
