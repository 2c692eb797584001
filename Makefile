PYTHON ?= $(shell command -v python3.11 || command -v python3 || command -v python)
VENV := .venv
BIN := $(VENV)/bin
NOX := $(BIN)/nox --session
UV := $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python
DEMO := $(VENV)/.installed-demo
DEV := $(VENV)/.installed-dev

# With it, each of many processes would compile anew what it imports.
unexport PYTHONDONTWRITEBYTECODE
# nltk refuses files that have other names, too, as the hard links to uv's cache.
export UV_LINK_MODE := copy

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-minimum test-examples test-semantic test-browser fuzz properties screenshots check options docs format notebooks wheel smoke audit lock ablate clean

help: ## show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

demo: $(DEMO) ## ask the documentation on this machine three questions, compressed and not
	$(BIN)/ctxcompress demo

test: $(DEV) ## run the tests, but for the slow ones
	$(NOX) test

test-all: $(DEV) ## run all tests, each property on many examples
	$(NOX) test-all

test-minimum: $(DEV) ## run the tests of the core and the adapters on the lowest versions that pyproject.toml declares
	$(NOX) test-minimum

test-examples: $(DEV) ## run the tests of examples/ in the frameworks that these are for
	$(NOX) test-examples

test-semantic: $(DEV) ## run the tests with a real sentence encoder, whose weights come as a package
	$(NOX) test-semantic

test-browser: $(DEV) ## run the tests of the page in a browser; without Chromium they are skipped
	$(NOX) test-browser

fuzz: $(DEV) ## fuzz readers and cutting with coverage: make fuzz TARGET=json SECONDS=600
	$(NOX) fuzz -- "$(TARGET)" -max_total_time=$(or $(SECONDS),60)

properties: $(DEV) ## check the rules on N cases from seeds: make properties N=1000000
	$(NOX) properties -- $(or $(N),1000)

screenshots: $(DEV) ## make the images of docs/xray.md anew, with Chromium
	$(BIN)/python tests/browser/screenshots.py docs/images

check: $(DEV) ## lint, check formatting, types and the direction of imports
	$(NOX) check

ablate: $(DEV) ## switch each format and adjustment off in turn: make ablate CASES=folder, with files that benchmarks/lib/cases.py reads
	$(BIN)/python benchmarks/ablate.py $(CASES)/*.json.gz --docs docs/evidence.md

options: $(DEV) ## write what follows from the declared options
	$(BIN)/python docs/write_options.py

docs: $(DEV) ## build the documentation into site/, strictly and without the network
	$(NOX) docs
	@echo 'open site/index.html, or for the search: $(BIN)/python -m http.server -d site'

format: $(DEV) ## format the code
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

notebooks: $(DEV) ## run the notebooks, and write what they show into them
	$(BIN)/python notebooks/run.py

wheel: $(DEV) ## build the three distributions, by way of their sources, and check how indexes will show them
	$(NOX) wheel

smoke: wheel ## use the wheels in a clean environment, and write what the base install brings into sbom/
	$(NOX) smoke

audit: $(DEV) ## ask a vulnerability service about each locked release; needs the network
	$(NOX) audit

lock: $(DEV) ## write requirements-dev.txt anew, after a change of pyproject.toml; make lock UPGRADE=--upgrade takes new releases
	$(NOX) lock -- $(UPGRADE)

clean: ## remove what was installed and built
	rm -rf $(VENV) .nox dist sbom build site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(DEMO): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[langchain,cli,prices]'
	touch $@

# uv is faster than pip, but does not read pip's settings, which may name another index.
$(DEV): requirements-dev.txt pyproject.toml | $(BIN)/python
	sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.txt > $(VENV)/uv.txt
	$(BIN)/python -m pip install --quiet --require-hashes --requirement $(VENV)/uv.txt
	$(UV) --require-hashes --requirement requirements-dev.txt || \
	  $(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-dev.txt
	$(UV) --no-deps --no-build-isolation --editable .
	touch $@ $(DEMO)
