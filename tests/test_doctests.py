"""The examples in docstrings run as written, against a solved Gobblet where they ask for one."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import perfectplay
import perfectplay_native

MODULES = [
    module.name
    for package in (perfectplay, perfectplay_native)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.rpartition(".")[2].startswith(("_", "build"))
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name: str, gobblet_tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(gobblet_tables))
    assert doctest.testmod(importlib.import_module(name)).failed == 0
