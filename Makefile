# evolve: build, test and check. `make help` lists the targets.
#
# demo and test need Go and Git (with ssh-keygen) only.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS  = -s -w -X main.buildVersion=$(VERSION)
BIN      = bin
PREFIX  ?= /usr/local

# The tools of `make check`, fetched by the Go command into bin/tools.
GOLANGCI_VERSION    = v2.12.2
GOVULNCHECK_VERSION = v1.9.0
TOOLS               = $(CURDIR)/$(BIN)/tools

# The systems that evolve is built for.
SYSTEMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64

.PHONY: help build demo test check test-servers bench soak install cross fuzz clean test-git-servers test-newer-git test-mcp-servers

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 20

build: ## build bin/evolve
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/ ./cmd/...

demo: build ## run the main job on a repository made for it
	@testdata/demo.sh $(CURDIR)/$(BIN)/evolve

test: ## run every test
	$(GO) test ./...

test-servers: test-git-servers test-newer-git test-mcp-servers ## run the tests against real servers; says what is missing

test-git-servers: ## the gate on sshd, gitolite3 and git daemon, and the long race; needs them installed
	$(GO) test -tags servers -count=1 -timeout 60m -run 'TestServerPage|TestPushTo|TestClonesPush' ./hooks

test-newer-git: ## what drives Git, on the Git of a newer Debian, which it builds
	@bin=$$(scripts/newer-git.sh) && PATH=$$bin:$$PATH git version && \
	  PATH=$$bin:$$PATH $(GO) test -count=1 ./internal/gitrepo/... ./review ./promote ./hooks ./cmd/...

test-mcp-servers: ## the runtime on official MCP servers and the conformance suite; needs node and npm
	$(GO) test -tags servers -count=1 -timeout 20m -run TestPeers ./runtime
	@peers=$$(scripts/peers.sh servers) && EVOLVE_TEST_SERVERS=$$peers \
	  $(GO) test -tags servers -count=1 -timeout 20m -run TestServers ./cmd/evolve

check: ## format, vet, lint, race, fuzz seeds, docs drift, import law, vulnerabilities
	@scripts/check.sh

bench: ## measure; see docs/benchmarks.md
	BENCH_RESULTS=$(CURDIR)/docs/benchmarks.md $(GO) test -tags bench -count=1 -timeout 120m -v ./internal/bench
	BENCH_RUNTIME_RESULTS=$(CURDIR)/docs/benchmarks-runtime.md $(GO) test -tags bench -count=1 -timeout 60m -run TestBench -v ./runtime

SOAK_SCALE ?= 1
soak: ## storms and kills; SOAK_SCALE=0.05 is the short run, see docs/soak.md
	SOAK_SCALE=$(SOAK_SCALE) SOAK_RESULTS=$(if $(filter 1,$(SOAK_SCALE)),$(CURDIR)/docs/soak.md) \
	  $(GO) test -tags soak -count=1 -timeout 120m -v ./internal/soak
	EVOLVE_SOAK=$(if $(filter 1,$(SOAK_SCALE)),1000,50) $(GO) test -race -count=1 -run TestRace -timeout 60m ./runtime
	SOAK_SCALE=$(SOAK_SCALE) $(GO) test -tags soak -count=1 -timeout 120m -v -run TestKilled ./hooks

cross: ## build for every system
	@for s in $(SYSTEMS); do echo "build $$s"; \
	  CGO_ENABLED=0 GOOS=$${s%/*} GOARCH=$${s#*/} $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o dist/$${s%/*}-$${s#*/}/ ./cmd/... || exit 1; done

FUZZTIME ?= 10m
fuzz: ## run every fuzz target for FUZZTIME each
	@scripts/fuzz.sh $(FUZZTIME)

install: build ## copy the programs to PREFIX/bin
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(BIN)/evolve $(BIN)/evolve-hook $(DESTDIR)$(PREFIX)/bin/

clean: ## remove what was built
	rm -rf $(BIN) dist

# scripts/check.sh reads these.
export GOLANGCI_VERSION GOVULNCHECK_VERSION TOOLS
