"""Properties of the source tree that no linter checks."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAX_PARAMETERS = 8


def tracked_files(*suffixes: str) -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listing.returncode != 0:
        pytest.skip("not a git checkout")
    return [path for name in listing.stdout.split("\0") if (path := ROOT / name).is_file() and name.endswith(suffixes)]


def test_no_file_contains_a_path_of_a_build_machine() -> None:
    pattern = re.compile(r"/(?:home|root|Users)/\w|/work/\w")
    for path in tracked_files():
        if path.suffix not in {".png", ".svg"} and path != Path(__file__):
            match = pattern.search(path.read_text(encoding="utf-8"))
            assert not match, f"{path.relative_to(ROOT)} contains {match.group() if match else ''}"


def test_every_source_file_opens_with_its_purpose() -> None:
    for path in tracked_files(".c", ".h", ".py"):
        text = path.read_text(encoding="utf-8")
        opening = re.sub(r"^(#.*\n|\s)+", "", text) if path.suffix == ".py" else text
        assert not text.strip() or opening.startswith(('"""', "/*")), path.relative_to(ROOT)


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            yield node


def is_click_callback(function: ast.FunctionDef) -> bool:
    return any("click." in ast.unparse(decorator) for decorator in function.decorator_list)


def test_functions_take_few_parameters() -> None:
    packages = ("framework", "native", "games")
    for path in tracked_files(".py"):
        if path.relative_to(ROOT).parts[0] not in packages:
            continue
        for function in functions(path):
            arguments = function.args
            names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
            count = len(names) - (names[:1] in (["self"], ["cls"]))
            assert count <= MAX_PARAMETERS or is_click_callback(function), f"{path.name}: {function.name} has {count}"
