# `make` is the whole interface. Everything it needs it makes: .venv from requirements/ with hashes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help install demo test check fix bench docs pins clean

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

install: $(STAMP)  ## Make .venv with the pinned dependencies

$(STAMP): requirements/dev.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

demo: $(STAMP)  ## Run a real shop's board, offline, in under a minute
	$(BIN)/python examples/shop/demo.py

test: $(STAMP)  ## Run the tests with branch coverage
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term:skip-covered --cov-fail-under=95

check: $(STAMP)  ## Format, lint, types, import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/pyright
	$(BIN)/python docs/generate.py --check

fix: $(STAMP)  ## Format and mend what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(STAMP)  ## Write the generated reference
	$(BIN)/python docs/generate.py

pins: $(STAMP)  ## Write requirements/*.txt anew from pyproject.toml
	$(BIN)/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-header --extra dev pyproject.toml -o requirements/dev.txt
	$(BIN)/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-header --extra bench pyproject.toml -o requirements/bench.txt

bench: .venv-bench/.installed  ## Measure ours beside peers, in one run
	.venv-bench/bin/python benchmarks/run.py

.venv-bench/.installed: requirements/bench.txt pyproject.toml
	test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bench.txt
	.venv-bench/bin/pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $@

clean:  ## Remove what make made
	rm -rf $(VENV) .venv-bench .pytest_cache .ruff_cache .hypothesis .coverage*
