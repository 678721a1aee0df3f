# make demo | test | check | bench: each installs what it needs; a second run is quick.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BENCH_STAMP := $(VENV)/.bench-installed
SYSTEMS_DIR ?= .systems
# A folder of systems/ each; cognee takes 1.3 GB and is installed by who wants it.
SYSTEMS := $(filter-out cognee,$(notdir $(wildcard systems/*)))
SYSTEM_STAMPS := $(SYSTEMS:%=$(SYSTEMS_DIR)/%/.installed)
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo kernels test test-slow test-systems check bench schema setup clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,lab]'
	touch $@

$(BENCH_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,lab,bench]'
	touch $@

setup: $(STAMP) ## create the virtual environment in .venv

demo: $(STAMP) ## rank writers on a short benchmark, verify a certificate, write a report
	$(BIN)/memaudit demo

kernels: $(STAMP) ## compile the solver's kernels, once per machine
	$(BIN)/python -m memaudit.kernel.solvers.compiled.kernel_cache

test: kernels ## run the tests (under five minutes on two cores)
	$(BIN)/python -m pytest -n auto -m "not slow" $(ARGS)

test-slow: kernels ## the long tests: kill tables, fuzzing, browser walks, reproductions, documents
	$(BIN)/python -m pytest -n auto -m slow $(ARGS)

.PHONY: coverage
coverage: kernels ## run the fast tests and print which lines of src they reach
	$(BIN)/python -m pytest -n auto -m "not slow" --cov=memaudit --cov-report=term:skip-covered $(ARGS)

.PHONY: test-nightly
test-nightly: kernels ## the attacks of tests/hardening for hours; SEED chooses others
	MEMAUDIT_FUZZ_EXAMPLES=2000 MEMAUDIT_FUZZ_SEED=$(or $(SEED),1) MEMAUDIT_KILLS=2000 \
		$(BIN)/python -m pytest -n auto -m "slow or not slow" tests/hardening --timeout 0 $(ARGS)

$(SYSTEMS_DIR)/%/.installed: systems/%/requirements.txt
	$(PYTHON) -m venv $(SYSTEMS_DIR)/$*
	$(SYSTEMS_DIR)/$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement $<
	if [ -f systems/$*/package.json ]; then \
	  cp systems/$*/package*.json $(SYSTEMS_DIR)/$*/ && \
	  $(SYSTEMS_DIR)/$*/bin/npm ci --silent --ignore-scripts --prefix $(SYSTEMS_DIR)/$*; fi
	touch $@

$(SYSTEMS_DIR)/mcp-memory/.installed: systems/mcp-memory/package-lock.json

test-systems: $(STAMP) ## capture real memory systems, each in an environment of its own
	$(MAKE) --jobs 3 $(SYSTEM_STAMPS)
	MEMAUDIT_SYSTEMS=$(abspath $(SYSTEMS_DIR)) $(BIN)/python -m pytest -n 2 tests/systems $(ARGS)

.PHONY: browsers
browsers: ## install the browsers that tests walk through pages with (Debian, as root)
	apt-get update -qq
	apt-get install -y -qq chromium >/dev/null
	apt-get install -y -qq --no-install-recommends firefox-esr webkit2gtk-driver xvfb >/dev/null

check: $(STAMP) ## ruff and strict mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(BENCH_STAMP) ## compare the solver with its peers, as ratios in one run
	$(BIN)/python -m bench --all $(ARGS)

.PHONY: docs
docs: $(STAMP) ## build the documentation into build/docs
	$(BIN)/python -m mkdocs build --strict

schema: $(STAMP) ## regenerate the JSON Schema from the models
	$(BIN)/memaudit package schema --out schema/package.schema.json

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
