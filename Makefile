# Short names for the commands in CONTRIBUTING.md.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help install format check quick test docs site

help:
	@echo 'make install   create the environment in .venv; repeat after a change to C'
	@echo 'make format    format Python, C and JavaScript, and fix lint errors'
	@echo 'make check     lint, formatting, types and the documentation build'
	@echo 'make quick     the unit tests, in under a minute'
	@echo 'make test      all checks and tests, including complete solves'
	@echo 'make docs      regenerate docs/help.md'
	@echo 'make site      build the documentation site in site/'

install:
	test -d .venv || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[dev]'

format:
	$(BIN)/python tools/check.py --fix

check:
	$(BIN)/python tools/check.py

quick:
	$(BIN)/pytest -q -n auto -m unit

test: check
	$(BIN)/pytest -n auto

docs:
	$(BIN)/python docs/make_help.py

site:
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
