.PHONY: build demo test check

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
STATICCHECK = go run honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Both programs, into bin/.
build:
	go build -ldflags '-X main.version=$(VERSION)' -o bin/ ./cmd/...

# The whole story in one go, on a database of its own.
demo: build
	./bin/countersign demo

test:
	go test ./...

# What continuous integration checks beside the tests.
check:
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	go vet ./...
	$(STATICCHECK) ./...
	go mod tidy -diff
	go test -race -shuffle=on ./...
