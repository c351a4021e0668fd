"""The reference pages name every hook and every kernel function exactly as the source does."""

from __future__ import annotations

import inspect
import re
import subprocess
from pathlib import Path

import pytest

from perfectplay.game.plugins import REQUIRED_HOOKS
from perfectplay.game.spec import GameSpec, HostSpec
from perfectplay.testing.trial import PROMISES
from perfectplay_native.build import INCLUDE

DOCS = Path(__file__).parent.parent.parent / "docs"
HOOKS = (DOCS / "hooks.md").read_text()
KERNEL = (DOCS / "kernel.md").read_text()
HEADER = (INCLUDE / "perfectplay.h").read_text()


def signature(hook: object) -> str:
    found = inspect.signature(hook)  # type: ignore[arg-type]
    arguments = ", ".join(f"{each.name}: {each.annotation}" for each in list(found.parameters.values())[1:])
    return f"{hook.__name__}({arguments}) -> {found.return_annotation}"  # type: ignore[attr-defined]


def specified(spec: type) -> dict[str, object]:
    return {name: hook for name, hook in vars(spec).items() if not name.startswith("_")}


def test_every_hook_is_documented_with_its_exact_signature_and_docstring():
    hooks = specified(GameSpec) | specified(HostSpec)
    for hook in hooks.values():
        assert f"### `{signature(hook)}`\n\n{hook.__doc__}" in HOOKS, signature(hook)
    assert re.findall(r"^### `(\w+)\(", HOOKS, re.MULTILINE) == list(hooks)


def test_the_required_hooks_are_named():
    (sentence,) = re.findall(r"required hooks are (.*?)\.", HOOKS, re.DOTALL)
    assert re.findall(r"`(\w+)`", sentence) == list(REQUIRED_HOOKS)


def test_every_law_is_explained():
    for law, promise in PROMISES.items():
        assert f"| `{law}` | {promise} |" in HOOKS, law


def test_every_kernel_function_is_documented_with_its_exact_declaration():
    header = [
        " ".join(each.split()) for each in re.findall(r"^    ([\w ]+\**\(\*\w+\)\([^;]*\);)", HEADER, re.MULTILINE)
    ]
    page = [" ".join(each.split()) for each in re.findall(r"^### `(.*)`$", KERNEL, re.MULTILINE)]
    assert page == header
    assert len(header) > 15


def test_every_kernel_field_is_documented():
    struct = HEADER[HEADER.index("struct pp_kernel {") : HEADER.index("/* ---- required")]
    fields = re.findall(r"^    [\w ]+?\*?(\w+);", struct, re.MULTILINE)
    assert re.findall(r"^\| `(\w+)` \|", KERNEL, re.MULTILINE) == fields
    (abi,) = re.findall(r"PP_ABI = (\d+)", HEADER)
    assert f"ABI {abi}" in KERNEL


def test_every_promise_names_tests_and_campaigns_that_exist():
    page, tests = (DOCS / "reliability.md").read_text(), DOCS.parent / "tests"
    files = {path.name for path in tests.rglob("test_*.py")}
    rows = re.findall(r"^\|.*\|$", page[page.index("## Promises") : page.index("### Limits")], re.MULTILINE)[2:]
    assert len(rows) > 20
    for row in rows:
        assert re.search(r"`test_\w+\.py`", row.rsplit("|", 2)[1]), row
    assert set(re.findall(r"\btest_\w+\.py", page)) <= files
    for name in re.findall(r"tools\.campaigns\.(\w+)", page):
        assert (DOCS.parent / "tools" / "campaigns" / f"{name}.py").exists(), name
    titles = {title.lower().replace(" ", "-") for title in re.findall(r"^### (.*)$", page, re.MULTILINE)}
    assert set(re.findall(r"\]\(#([\w-]+)\)", page)) <= titles


@pytest.mark.parametrize("term", ["ply", "remoteness", "tier", "slot", "canonical", "tie", "endless draw"])
def test_the_glossary_explains_terms_in_the_output(term):
    glossary = (DOCS / "glossary.md").read_text().lower()
    assert re.search(rf"^(\*\*|#+ |\| \**|- \*\*){term}", glossary, re.MULTILINE), term


def test_the_examples_of_the_toolkit_hold(tmp_path: Path):
    """The page describes every header of the toolkit, and its examples run under the sanitizers."""
    headers = {path.name for path in (INCLUDE / "perfectplay").glob("*.h")} - {"index_build.h"}
    section = KERNEL[KERNEL.index("## The toolkit") : KERNEL.index("## Slots and turns")]
    titles = " ".join(re.findall(r"^### .*: (.*)$", section, re.MULTILINE))
    assert set(re.findall(r"\w+\.h", titles)) == set(re.findall(r"^\| `(\w+\.h)` \|", section, re.MULTILINE)) == headers
    examples = re.findall(r"^```c\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    assert len(examples) == 6
    includes = "".join(f'#include "perfectplay/{name}"\n' for name in sorted(headers))
    body = "".join(f"{{\n{example}}}\n" for example in examples)
    source = f"#include <assert.h>\n{includes}int main(void) {{\n{body}return 0;\n}}\n"
    (tmp_path / "examples.c").write_text(source)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined", f"-I{INCLUDE}"]
    subprocess.run(["cc", *flags, "examples.c", "-o", "examples"], cwd=tmp_path, check=True)
    subprocess.run([str(tmp_path / "examples")], check=True)
