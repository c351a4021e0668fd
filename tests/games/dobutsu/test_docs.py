"""The Python examples of docs/dobutsu.md say what they would say at the prompt."""

from __future__ import annotations

import doctest
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs" / "dobutsu.md"


def test_the_examples_of_the_docs_are_right():
    result = doctest.testfile(str(DOCS), module_relative=False)
    assert result.attempted > 5
    assert result.failed == 0
