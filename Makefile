# `make` is the whole interface. Whatever a target needs it makes: .venv from requirements/, by hash.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
PEERS := .venv-peers

# Two makes at once wait for each other where `flock` exists; what the first installed costs the second nothing.
LOCK := $(if $(shell command -v flock),flock $(VENV).lock)
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --no-input

# pyright asks the package index for a newer version of itself unless told not to.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
# Many tests start processes, which would each compile all modules on a machine that turns bytecode off.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help install peers demo test check lint types imports shape reference fix bench docs pins upgrade clean

help:  ## List the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

install: $(VENV)/.installed  ## Make .venv with the pinned dependencies

$(VENV)/.pinned: requirements/dev.txt
	$(call make-venv,$(VENV))
	$(LOCK) $(BIN)/python $(PIP_INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.installed: $(VENV)/.pinned pyproject.toml
	$(LOCK) $(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

peers: install tests/peers/node_modules/.installed $(PEERS)/.installed  ## Programs of others that tests talk to

tests/peers/node_modules/.installed: tests/peers/package-lock.json
	@command -v npm >/dev/null || { echo 'The tests need npm: on Debian, apt install npm'; exit 1; }
	$(LOCK) npm ci --prefix tests/peers --loglevel=error --no-progress
	@touch $@

$(PEERS)/.installed: requirements/peers.txt
	$(call make-venv,$(PEERS))
	$(LOCK) $(PEERS)/bin/python $(PIP_INSTALL) --require-hashes -r requirements/peers.txt
	@touch $@

demo: install  ## Run a real shop's board, offline, in under a minute
	$(BIN)/python examples/shop/demo.py

# Many tests wait for processes and deadlines, so that four workers keep two cores busy.
test: install peers  ## Run the tests; SLOW=1 adds the slow ones and coverage; ARGS=... goes to pytest
	$(BIN)/python -m pytest -n 4 $(if $(SLOW),--cov --cov-report=term -o timeout=45,-m "not slow") $(ARGS)

check: lint types imports reference shape  ## Format, lint, types, import rules, reference, shape

lint: install
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .

types: install
	$(BIN)/python -m pyright

imports: install
	$(BIN)/lint-imports --no-cache

reference: install
	$(BIN)/python docs/generate.py --check

shape: install
	$(BIN)/python -m pytest -q -p no:randomly tests/shape

fix: install  ## Format, and mend what the linter can mend
	$(BIN)/python -m ruff format .
	$(BIN)/python -m ruff check --fix .

docs: install  ## Write the generated reference
	$(BIN)/python docs/generate.py

bench: $(BENCH)/.installed  ## Measure ours beside peers, in one run
	$(BENCH)/bin/python benchmarks/run.py

$(BENCH)/.installed: requirements/bench.txt pyproject.toml
	$(call make-venv,$(BENCH))
	$(LOCK) $(BENCH)/bin/python $(PIP_INSTALL) --require-hashes -r requirements/bench.txt
	$(LOCK) $(BENCH)/bin/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

pins: install  ## Write requirements/*.txt from pyproject.toml; what is pinned stays where it can
	$(call compile,dev)
	$(call compile,bench)
	$(call compile-peers)

upgrade: install  ## The same, with the newest versions that fit
	$(call compile,dev,--upgrade)
	$(call compile,bench,--upgrade)
	$(call compile-peers,--upgrade)

clean:  ## Remove what make made
	rm -rf $(VENV) $(BENCH) $(PEERS) tests/peers/node_modules $(VENV).lock dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	rm -f .coverage .coverage.*

define make-venv
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	|| { echo 'Pegboard needs Python 3.11 or newer: make PYTHON=python3.11'; exit 1; }
@$(LOCK) sh -c 'test -x $(1)/bin/pip || $(PYTHON) -m venv $(1)' \
	|| { echo 'No virtual environment could be made; on Debian: apt install python3-venv'; exit 1; }
endef

define compile-peers
$(BIN)/uv pip compile --quiet $(1) --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url --no-emit-find-links --no-strip-extras requirements/peers.in --output-file requirements/peers.txt
endef

define compile
$(BIN)/uv pip compile --quiet $(2) --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url --no-emit-find-links --extra $(1) pyproject.toml --output-file requirements/$(1).txt
endef
