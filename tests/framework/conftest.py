"""Installs games of the zoo for the tests of the host.

Games are installed the way pip does it, as a module and a .dist-info directory on the path, so that discovery
is tried for real, in this process and in others.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from perfectplay.game.game import Game

from .. import zoo


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """install(game, code): as if a package with this game had been installed; `.path` is where."""
    place = tmp_path / "site-packages"
    place.mkdir()
    monkeypatch.syspath_prepend(str(place))
    modules = []

    def install(game: str, code: str, *, package: str = "", version: str = "1.0", group: str = "games") -> None:
        package = package or f"try-{game}"
        module = "installed_" + package.replace("-", "_")
        modules.append(module)
        (place / f"{module}.py").write_text(code)
        info = place / f"{package.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[perfectplay.{group}]\n{game} = {module}\n")
        importlib.invalidate_caches()

    install.path = place  # type: ignore[attr-defined]
    yield install
    for module in modules:
        sys.modules.pop(module, None)


@pytest.fixture(scope="session")
def subtraction() -> Game:
    return zoo.make("subtraction")


@pytest.fixture(scope="session")
def tic_tac_toe() -> Game:
    return zoo.make("tictactoe")


@pytest.fixture(scope="session")
def codes() -> types.SimpleNamespace:
    """The games' source texts, and `module_of` to make a module of one."""
    return types.SimpleNamespace(
        subtraction=zoo.read("subtraction"),
        tic_tac_toe=zoo.read("tictactoe"),
        variants=zoo.read("variants"),
        module_of=zoo.module_of,
    )
