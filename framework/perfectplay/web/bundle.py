"""The page's scripts and styles as one file each, made when the server starts: a page in pieces travels badly.

The sources stay plain modules, which a browser could load as they are; there is no build step and no tool. Every module
becomes a function that returns what it exports, in the order of their imports. That suffices for the forms of import
and export that our modules use, and a module that uses another is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from graphlib import TopologicalSorter

_IMPORT = re.compile(r'^import (?:\* as (\w+)|\{ ([^}]*) \}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:const|function) ([\w$]+)", re.MULTILINE)
_COMMENT = re.compile(r"(?:^|(?<=[;,{}()]))[ \t]*(?:// [^\n]*|/\*.*?\*/[ \t]*)$", re.MULTILINE | re.DOTALL)
_CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_CSS_BLANKS = re.compile(r"\s*([{};])\s*")


def bundle_scripts(sources: Mapping[str, str], entry: str) -> str:
    """One script for the modules (by name, without `.js`) that `entry` needs."""
    needs: dict[str, set[str]] = {}
    waiting = [entry]
    while waiting:
        name = waiting.pop()
        if name not in needs:
            needs[name] = {found[2] for found in _IMPORT.findall(sources[name])}
            waiting += needs[name]
    parts = [_as_function(name, sources[name]) for name in TopologicalSorter(needs).static_order()]
    return '"use strict";\n' + "\n".join(parts)


def _as_function(name: str, source: str) -> str:
    exported = _EXPORT.findall(source)
    body = _EXPORT.sub(
        lambda found: found[0].removeprefix("export "), _IMPORT.sub(_import_words, _COMMENT.sub("", source))
    )
    left = re.search(r"^\s*(?:import|export)\b.*", body, re.MULTILINE)
    if left:
        raise ValueError(f"{name}.js: the bundle does not know this form: {left[0].strip()}")
    return f"const module_{name} = (() => {{\n{_squeezed(body)}\nreturn {{ {', '.join(exported)} }};\n}})();"


def _import_words(found: re.Match[str]) -> str:
    whole, names, module = found.groups()
    if whole:
        return f"const {whole} = module_{module};"
    return f"const {{ {names.replace(' as ', ': ')} }} = module_{module};"


def bundle_styles(*sources: str) -> str:
    """One stylesheet of several, in their order."""
    return "\n".join(_CSS_BLANKS.sub(r"\1", _squeezed(_CSS_COMMENT.sub("", source))) for source in sources)


def _squeezed(text: str) -> str:
    """Without indentation and empty lines. (No text of ours runs over several lines.)"""
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())
