PYTHON ?= $(shell command -v python3.11 || command -v python3 || command -v python)
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/.installed-demo
DEV := $(VENV)/.installed-dev

.DEFAULT_GOAL := help
.PHONY: help demo test check format wheel clean

help: ## show what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

demo: $(DEMO) ## ask the documentation on this machine a question, compressed and not
	$(BIN)/ctxcompress demo

test: $(DEV) ## run the tests
	$(BIN)/pytest -n 2

check: $(DEV) ## lint, check formatting, types and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(DEV) ## format the code
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

wheel: $(DEV) ## build dist/*.whl, by way of the source distribution
	rm -rf dist
	$(BIN)/python -m build

clean: ## remove what was installed and built
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
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
