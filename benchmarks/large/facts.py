"""What a module of this folder says: which variant to solve, and what must come out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """One solve: the words after `solve`, and fields of its JSON answer with the values that they must have."""

    command: tuple[str, ...]
    expected: Mapping[str, object]
    source: str
