"""The file of a weak solve: outcomes proven so far, for one game, one variant and one version of its rules.

It is a GBL2 file of version 2 (gbl2.py). Its text names the game, and its bytes after the entries mark the positions
whose children are all proven too, one bit each. The checksum is of all of it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from perfectplay.errors import PerfectPlayError, TableError
from perfectplay.files import atomic_write
from perfectplay.game import Game
from perfectplay.tables.gbl2 import Entries, read_gbl2, read_header, write_version_2

Marks = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Proven:
    """What a proof file holds."""

    entries: Entries
    marks: Marks


def write_proof(path: Path, game: Game, proven: Proven) -> None:
    """Write a proof file atomically."""
    with atomic_write(path) as part, part.open("wb") as file:
        write_version_2(file, _about(game), proven.entries, np.packbits(proven.marks).tobytes())


def read_proof(path: Path, game: Game) -> Proven:
    """What a proof file holds; TableError where it is another game's, of other rules or options, or damaged."""
    try:
        header = read_header(path)
        if header.about != _about(game):
            raise TableError(f"{path} is not a proof file of {_spoken(_about(game))}, but {_spoken(header.about)}")
        if header.more != -(-header.count // 8):
            raise PerfectPlayError(f"{path} is damaged: it does not have as many marks as outcomes")
        parts = list(read_gbl2(path))  # checks the checksum at its end: nothing is used before
        with path.open("rb") as file:
            file.seek(-header.more, 2)
            bits = np.frombuffer(file.read(), dtype=np.uint8)
    except OSError as error:
        raise TableError(f"cannot read {path}: {error.strerror}") from None
    except TableError:
        raise
    except PerfectPlayError as error:
        raise TableError(f"{error}; delete it, or use --no-save") from None
    entries = np.concatenate(parts) if parts else np.empty(0, dtype="<u8, i1")
    return Proven(entries, np.unpackbits(bits, count=header.count).astype(bool))


def _about(game: Game) -> bytes:
    about = {"game": game.name, "options": game.options, "rules_version": game.rules_version}
    return json.dumps(about, sort_keys=True).encode()


def _spoken(about: bytes) -> str:
    return about.decode(errors="replace") if about else "of a game that it does not name"
