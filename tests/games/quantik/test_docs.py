"""The Python examples of docs/quantik.md say what they would say at the prompt."""

from __future__ import annotations

import doctest
from pathlib import Path

import perfectplay_quantik.state

DOCS = Path(__file__).parents[3] / "docs" / "quantik.md"


def test_the_examples_of_the_docs_are_right() -> None:
    result = doctest.testfile(str(DOCS), module_relative=False)
    assert result.attempted > 10
    assert result.failed == 0


def test_the_examples_in_docstrings_are_right() -> None:
    result = doctest.testmod(perfectplay_quantik.state)
    assert result.attempted > 2
    assert result.failed == 0
