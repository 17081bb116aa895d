# Every command that the project has. `make help` lists them; CI calls the same ones.

UV_VERSION := 0.13.8
# What wheels are built with. zig links the engine against an old glibc.
WHEEL_TOOLS := maturin==1.16.0 ziglang==0.17.1 wheel==0.48.0
PYTHON     ?= python3
TOOLS      := .tools
UV         := $(TOOLS)/bin/uv
BIN        := .venv/bin
FUZZ_SECONDS ?= 600
CHAOS_MINUTES ?= 30
MINUTES ?= 60
STUDIES ?=

# uv must build with the Python that `make` found, never with one that it downloads.
export UV_PYTHON_DOWNLOADS := never
export UV_PROJECT_ENVIRONMENT := $(CURDIR)/.venv

# What the engine is made of: when one of these is newer, .venv is brought up to date.
ENGINE_SOURCES := Cargo.toml Cargo.lock rust-toolchain.toml \
	$(shell find crates services/rust contracts \
		-name '*.rs' -o -name Cargo.toml -o -name '*.proto' -o -name '*.bpf.o')
VENV  := .venv/.up-to-date
DEV   := .venv/.developing
BUILD_MINUTES := 7
TARGET := $(or $(CARGO_TARGET_DIR),target)
STAMP := $(TOOLS)/.uv-$(UV_VERSION)
WHEEL_STAMP := $(TOOLS)/wheel/.up-to-date

.DEFAULT_GOAL := help
# Without rules of its own, make compiles no committed object again: clang does that for the kernel.
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.PHONY: help demo setup develop parts test test-all test-rust test-rust-alone \
	compile-rust-tests test-go test-go-alone test-java test-python check lint lint-rust \
	lint-go lint-java lint-python fmt generate fresh audit bench facts parsers ground-truth judge \
	many-users soak chaos atlas studies docs gate-trials limit-coverage known-capacities slices-agree next-to-wrk fuzz wheel test-wheel changelog clean

help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: setup ## build, measure REST and gRPC, end with a report
	$(BIN)/wirelab demo

setup: $(VENV) ## build wirelab, its engine and its services in Rust into .venv/bin

develop: $(DEV) ## the same, with what tests and lints need

# -- what is built ---------------------------------------------------------

$(STAMP):
	@PYTHON="$(PYTHON)" .ci/need python
	$(PYTHON) -m venv --clear $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@touch $@

# cargo runs here, where its output is seen: uv shows none of a build backend. uv, which then calls
# cargo by maturin, finds everything built.
$(VENV): $(STAMP) pyproject.toml uv.lock wirelab.data/scripts/wirelab $(ENGINE_SOURCES)
	@PYTHON="$(PYTHON)" .ci/need python rust
	@echo "Building wirelab: the first time about $(BUILD_MINUTES) minutes on two cores."
	.ci/cargo-build --release --locked --package wirelab-engine --package wirelab-services
	$(UV) sync --frozen --inexact --no-default-groups --python $(TOOLS)/bin/python
	@for file in wirelab-rust-service wirelab-rust-service.dwp wirelab-engine.dwp; do \
		ln -f $(TARGET)/release/$$file $(BIN)/ 2>/dev/null \
			|| cp $(TARGET)/release/$$file $(BIN)/ || exit 1; \
	done
	@test -x $(BIN)/wirelab && test -x $(BIN)/wirelab-engine
	@$(BIN)/python -m compileall -q python/wirelab
	@touch $@

$(DEV): $(VENV)
	$(UV) sync --frozen --inexact --python $(TOOLS)/bin/python
	@touch $@

parts: setup ## build what is otherwise built when first needed: databases, JSON Schema
	.ci/cargo-build --release --locked --package wirelab-service-databases --package wirelab-engine-json

# -- tests -----------------------------------------------------------------

test: develop parts ## what every change needs; at most 20 minutes after `make setup`
	@.ci/need rust go java
	@.ci/test

TEST_ALL = WIRELAB_TESTS_STRICT=1 $(BIN)/python -m pytest --durations=30 \
	-o junit_suite_name=$(shell git describe --always --abbrev=12 --exclude '*' --dirty)

# Both parts in Python run even where the first fails: the page says what failed.
test-all: develop parts ## every test: before a release, and after changes to load, link, trace, host (root)
	$(MAKE) test-rust test-rust-alone test-go test-go-alone test-java
	rm -rf build/test-all
	-$(TEST_ALL) -n 2 --dist loadgroup -m "not alone" --junitxml=build/test-all/shared.xml
	-$(TEST_ALL) -m alone --junitxml=build/test-all/alone.xml
	$(BIN)/python -m tools.test_all_page build/test-all/shared.xml build/test-all/alone.xml

# Lints and tests share one compilation: clippy's driver compiles the workspace.
CLIPPY := CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__ RUSTC_WORKSPACE_WRAPPER=clippy-driver
# Without tests in documentation: there are none, and not finding any takes a minute.
TEST_RUST := $(CLIPPY) cargo test --workspace --locked --no-fail-fast --tests

# Tests that judge times are left out, with this reason. A test that never returns ends the run.
test-rust:
	@.ci/need rust
	timeout --verbose 40m env $(TEST_RUST)

test-rust-alone:
	@.ci/need rust
	$(CLIPPY) cargo test --workspace --locked --no-fail-fast --tests -- --ignored --test-threads=1

# So that they can be compiled with less of the processors than they run with.
compile-rust-tests:
	@.ci/need rust
	$(TEST_RUST) --no-run

# `-short` leaves out the tests that judge times.
test-go:
	@.ci/need go
	cd services/go && go build -o /dev/null ./cmd/serve && go test -short ./...

test-go-alone:
	@.ci/need go
	cd services/go && go test -run '^TestDelaysAreGivenAndReported$$' ./cmd/serve

# Also fails on a warning of javac, like `make lint-java`, so that both need one compilation.
test-java:
	@.ci/need java
	.ci/lint-java test

# The lab builds the services in Go and Java by itself, as it does for a user.
test-python: develop parts
	@.ci/need go java
	$(BIN)/python -m pytest --durations=30 -n 2 --dist loadgroup -m "not long and not alone"

# -- checks ----------------------------------------------------------------

# Nothing here builds with optimisation, so that it stays within minutes after any change.
check: | $(BIN)/lint-imports ## formatting, lints, types and the fast tests, before every commit
	@.ci/need rust go
	cargo fmt --all --check
	$(TEST_RUST) --bins --examples --no-run
	$(CLIPPY) cargo test --workspace --lib --locked --quiet
	$(CLIPPY) cargo build --workspace --bins --locked
	cd services/go && go vet ./... && go test ./internal/...
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/python -m tools.rust_cycles
	$(BIN)/mypy
	WIRELAB_ENGINE=$(abspath $(TARGET))/debug/wirelab-engine \
		$(BIN)/python -m pytest --quiet -n 2 --dist loadgroup -m "not slow" tests/python

$(BIN)/lint-imports:
	$(MAKE) develop

lint: lint-rust lint-go lint-java lint-python fresh audit ## formatting, lints, types, fresh generated code, advisories

lint-rust: develop
	@.ci/need rust
	cargo fmt --all --check
	$(TEST_RUST) --bins --examples --no-run
	$(BIN)/python -m tools.rust_cycles

lint-go:
	@.ci/need go
	cd services/go && go vet ./... && go tool staticcheck ./...
	@unformatted=$$(gofmt -l services/go contracts); \
	test -z "$$unformatted" || { echo "gofmt: run make fmt for" $$unformatted; exit 1; }

lint-java:
	@.ci/need java
	.ci/lint-java

lint-python: develop
	$(BIN)/lint-imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

fmt: develop ## format all sources
	cargo fmt --all
	gofmt -w services/go contracts
	$(BIN)/ruff format
	$(BIN)/ruff check --fix --exit-zero

generate: develop ## write the generated files again: protobuf for Go, schemas, README's table of stacks
	@.ci/need go java
	.ci/generate
	$(BIN)/python -m tools.stack_table
	$(BIN)/python -m tools.stack_files

fresh: develop
	.ci/fresh

audit: develop ## known vulnerabilities and licences; what cannot be reached is `not audited` (AUDIT=--strict fails then)
	@.ci/need go
	.ci/audit $(AUDIT)

bench: develop ## the engine compared with wrk, h2load, ab and ghz; reading compared with tshark; links, captures
	$(BIN)/python -m bench.run

ground-truth: develop ## the diagnosis compared with captures of known causes: precision and recall (25 minutes, root)
	$(BIN)/python -m bench.ground_truth
	$(BIN)/python -m bench.ground_truth.scripted
	$(BIN)/python -m bench.ground_truth.written

judge: develop ## `wirelab wrap` compared with servers whose log is the truth, for docs/reference/wrap.md (20 minutes, root)
	$(BIN)/python -m bench.judge

facts: develop ## measure again what `wirelab facts` shows (2 minutes; after `make test`)
	@.ci/need go java
	$(BIN)/python -m tools.measure_facts
	$(BIN)/python -m tools.facts_page

parsers: develop ## write docs/reference/parsers.md again: every parser on the messages of elfwing2002 (10 minutes)
	@.ci/need rust go java
	$(BIN)/wirelab parse --json > .cache/parsers.json
	$(BIN)/python -m tools.parsers_page .cache/parsers.json

many-users: develop ## 10,000 users against every service of the lab (10 minutes)
	@.ci/need go java
	WIRELAB_MANY_USERS=1 $(BIN)/python -m pytest -rA tests/python/process/test_many_users.py

soak: develop ## half an hour of inserts at a steady rate: counts, memory (needs Java and PostgreSQL)
	@.ci/need go java
	rm -rf runs/soak
	$(BIN)/wirelab run experiments/soak.yaml --out runs/soak
	$(BIN)/python -m tools.soak_page runs/soak

chaos: develop ## random kills, stops, full disks and clocks for CHAOS_MINUTES (30), for docs/reference/robustness.md (root)
	$(BIN)/python -m tools.chaos $(CHAOS_MINUTES)

atlas: develop ## write docs/atlas.md again: every stack of every service (an hour; needs Go and Java)
	@.ci/need go java
	rm -rf runs/atlas
	$(BIN)/wirelab run experiments/atlas.yaml --out runs/atlas
	$(BIN)/python -m tools.atlas_page runs/atlas

studies: develop ## measure the studies, MINUTES (60) at a time, or some: STUDIES=hamo2023 (root, Go, Java, PostgreSQL)
	@.ci/need go java
	$(BIN)/python -m tools.studies $(STUDIES) --minutes $(MINUTES)

docs: develop ## the documentation as a site in build/site; a warning fails
	$(BIN)/python -m tools.site

gate-trials: develop ## real comparisons of known truth, in trials and in slices, for docs/reference/compare.md (2 hours)
	rm -rf runs/gate-trials
	$(BIN)/python -m tools.gate_trials runs/gate-trials

limit-coverage: develop ## simulated searches of limits for the same page (half an hour)
	$(BIN)/python -m tools.limit_coverage

known-capacities: develop ## limits of queues that are known, for the same page (at most 20 minutes)
	rm -rf runs/known-capacities
	$(BIN)/python -m tools.known_capacities runs/known-capacities

slices-agree: develop ## services in slices and in windows of their own, for the same page (15 minutes)
	$(BIN)/python -m tools.slices_agree

next-to-wrk: develop ## rates of `drive` and wrk on servers that others run, for docs/reference/peers.md (20 minutes)
	$(BIN)/python -m tools.next_to_wrk

fuzz: ## search every parser for inputs that make it crash or hang, FUZZ_SECONDS each (600)
	@.ci/need rust
	WIRELAB_FUZZ_SECONDS=$(FUZZ_SECONDS) cargo test -p wirelab-wire -p wirelab-trace --locked --release --test integration fuzz::

$(WHEEL_STAMP): $(STAMP) Makefile
	$(UV) venv --quiet --clear --python $(TOOLS)/bin/python $(TOOLS)/wheel
	$(UV) pip install --quiet --python $(TOOLS)/wheel/bin/python $(WHEEL_TOOLS)
	@touch $@

wheel: develop $(WHEEL_STAMP) ## wheels in dist that need no compiler: wirelab, its services in Go and Java
	@.ci/need rust go java
	$(BIN)/python -m tools.wheel $(TOOLS)/wheel/bin dist

test-wheel: develop ## install the wheels of dist into an empty environment and use them (5 minutes, root)
	WIRELAB_WHEELS=$(CURDIR)/dist $(BIN)/python -m pytest -rA tests/python/repository/test_wheel.py

# Standard library only, so that a release needs no build.
changelog: ## CHANGELOG.md from changelog.d for a release: make changelog VERSION=0.2.0
	@test -n "$(VERSION)" || { echo "name the version: make changelog VERSION=0.2.0" >&2; exit 2; }
	$(PYTHON) -m tools.changelog "$(VERSION)"

clean: ## remove everything that was built
	rm -rf target build dist .venv $(TOOLS) .cache .mypy_cache .ruff_cache .pytest_cache bench/out
