"""The host's imports follow the layers drawn in docs/architecture.md, without cycles."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
HOST = ROOT / "framework" / "perfectplay"

# The package looks up its public names on first use, `python -m` runs the command line, and pytest must find its plugin
# without loading the checks.
OUTSIDE_THE_LAYERS = {"perfectplay", "perfectplay.__main__", "perfectplay.testing.pytest_plugin"}


def module_name(path: Path) -> str:
    parts = path.relative_to(HOST.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in HOST.rglob("*.py")}


def imports(path: Path) -> Iterator[str]:
    """The host modules that a file imports, at any level of nesting."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module


def layers() -> dict[str, int]:
    """The line of each folder in the drawing."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawing = re.search(r"```\n(cli/.*?)```", text, re.DOTALL)
    assert drawing, "docs/architecture.md has no drawing of the layers"
    lines = [re.findall(r"(?:^|\s)([a-z]+)/", line) for line in drawing[1].splitlines()]
    return {folder: number for number, folders in enumerate(lines) for folder in folders}


def folder_of(module: str) -> str:
    """The folder of a module; empty for top-level modules."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and (HOST / parts[1]).is_dir() else ""


def test_the_page_mentions_only_existing_files() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    mentioned = set(re.findall(r"`([\w/]+\.(?:c|h|py|json))`", text))
    assert len(mentioned) > 10
    files = [path for folder in ("framework", "native", "games", "tests") for path in (ROOT / folder).rglob("*.*")]
    for name in sorted(mentioned):
        assert any(str(path).endswith(f"/{name}") for path in files), f"docs/architecture.md mentions {name}"


def test_every_folder_is_in_the_drawing() -> None:
    folders = {path.parent.name for path in HOST.glob("*/__init__.py")}
    assert set(layers()) == folders


def test_a_layer_imports_only_lower_layers() -> None:
    line_of = layers()
    bottom = max(line_of.values()) + 1
    for module, path in MODULES.items():
        if module in OUTSIDE_THE_LAYERS:
            continue
        for imported in imports(path):
            if imported in OUTSIDE_THE_LAYERS:
                continue
            own, other = folder_of(module), folder_of(imported)
            allowed = own == other or line_of.get(own, bottom) < line_of.get(other, bottom)
            assert allowed, f"{module} imports {imported}, which is not in a lower layer of docs/architecture.md"


def test_imports_have_no_cycle() -> None:
    graph = {
        module: {name for name in imports(path) if name not in OUTSIDE_THE_LAYERS}
        for module, path in MODULES.items()
        if module not in OUTSIDE_THE_LAYERS
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" → ".join(error.args[1])) from None


MAX_MODULES = 115
"""Modules of the host without compile/, the translator of rules."""

MIN_LINES = 80
"""A shorter module that only one other module imports belongs in that module."""


def test_the_host_has_few_modules() -> None:
    modules = [module for module in MODULES if folder_of(module) != "compile"]
    assert len(modules) <= MAX_MODULES, "merge small modules, or say in the issue why there must be more"


def test_a_short_module_has_several_users() -> None:
    """Commands, entry points and packages are found by name, so no import shows their users."""
    users: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        for imported in set(imports(path)) - {module}:
            users.setdefault(imported, set()).add(module)
    for module, importers in users.items():
        path = MODULES[module]
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) < MIN_LINES and path.name != "__init__.py":
            assert len(importers) > 1, f"{module} has {len(lines)} lines and only {importers} imports it: merge them"
