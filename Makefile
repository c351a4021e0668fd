# The commands of CONTRIBUTING.md under short names; each also works as it stands there.
PYTHON ?= python3
BIN := .venv/bin
C_FILES := $(shell git ls-files '*.c' '*.h' 2>/dev/null)

.PHONY: install format types quick test docs site help

help:
	@echo 'make install   an environment in .venv; again after a change to C'
	@echo 'make format    format and lint Python, C and JavaScript'
	@echo 'make types     check the types'
	@echo 'make quick     the quick tests'
	@echo 'make test      all tests, the complete solves included'
	@echo 'make docs      the help pages, written again'
	@echo 'make site      the documentation as a site, in site/'

install:
	test -d .venv || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[dev]'

format:
	$(BIN)/ruff format .
	$(BIN)/ruff check .
	$(BIN)/clang-format -i --style=file --fallback-style=none $(C_FILES)
	@if test -x node_modules/.bin/prettier; then npm run --silent format; else echo 'run `npm ci` to format JavaScript'; fi

types:
	$(BIN)/mypy

quick:
	$(BIN)/pytest -q tests/framework tests/games

test:
	$(BIN)/pytest -n auto

docs:
	$(BIN)/python docs/make_help.py

site:
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
