"""Mistakes in a C kernel with a perfect index, one at a time: `check` names every one before anything is solved.

A line: what of tapatan's kernel.c is replaced by what, and the law that tells the author; `load` if it is refused at
once, None if it is harmless. The Python rules stay right, as an author's would.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest
from perfectplay_native._engine import ffi

from perfectplay import hookimpl, make_game
from perfectplay.errors import PluginError
from perfectplay.testing import run_checks
from perfectplay_native.build import INCLUDE
from perfectplay_native.kernel import Kernel

TAPATAN = Path(__file__).parent.parent.parent / "docs" / "examples" / "tapatan" / "perfectplay_tapatan"
SOURCE = (TAPATAN / "kernel.c").read_text()

MISTAKES = [
    # ---- the index ----
    ("positions[i] = valid(self, position) ? position : PP_NO_POSITION;", "positions[i] = position;", "rank"),
    (
        "positions[i] = valid(self, position) ? position : PP_NO_POSITION;",
        "if (valid(self, position)) positions[i] = position;",
        "rank",
    ),
    (
        "for (size_t i = 0; i < count; i++) {\n        const unsigned index",
        "for (size_t i = 0; i <= count; i++) {\n        const unsigned index",
        "hooks",
    ),
    (
        "for (size_t i = 0; i < count; i++) {\n        const unsigned index",
        "for (size_t i = 0; i + 1 < count; i++) {\n        const unsigned index",
        "rank",
    ),
    ("(unsigned)(pp_slot_index(first) + i)", "(unsigned)pp_slot_index(first)", "rank"),
    ("(unsigned)(pp_slot_index(first) + i)", "(unsigned)(pp_slot_index(first) + i + 1)", "rank"),
    (
        "return (uint64_t)choose[PLACES][my_men(tier)] * theirs_after(tier);",
        "return (uint64_t)choose[PLACES][my_men(tier)] * theirs_after(tier) - 1;",
        "rank",
    ),
    (
        "return (uint64_t)choose[PLACES][my_men(tier)] * theirs_after(tier);",
        "return (uint64_t)choose[PLACES][my_men(tier)] * theirs_after(tier) / 2 + 1;",
        "rank",
    ),
    (
        "return (uint64_t)choose[PLACES][my_men(tier)] * theirs_after(tier);",
        "return (uint64_t)choose[PLACES][my_men(tier)] * theirs_after(tier) + 1;",
        "rank",
    ),
    ("return (uint64_t)choose[PLACES][my_men(tier)] * theirs_after(tier);", "return (uint64_t)1 << 50;", "load"),
    (
        "number_of(mine(position)) * theirs_after(men) + number_of(others)",
        "number_of(mine(position)) + number_of(others)",
        "rank",
    ),
    (
        "number_of(mine(position)) * theirs_after(men) + number_of(others)",
        "number_of(others) * theirs_after(men) + number_of(mine(position))",
        "rank",
    ),
    ("return pp_slot_of(men, ", "return pp_slot_of(0, ", "rank"),
    ("return pp_slot_of(men, ", "return pp_slot_of(men ^ (men == 5), ", "rank"),
    ("{1, 7, 21, 35}", "{1, 7, 21, 34}", "retract"),
    ("{1, 8, 28, 56}", "{1, 8, 28, 65}", "rank"),
    (
        "const unsigned others = squeeze(theirs(position), 0777 & ~mine(position));",
        "const unsigned others = theirs(position);",
        "rank",
    ),
    ("if (k && choose[place][k] <= number) {", "if (k && choose[place][k] < number) {", "rank"),
    # ---- edges ----
    (
        "slots[i] = rank(self, apply(self, position, legal[i]));\n    return found;",
        "slots[i] = rank(self, apply(self, position, legal[i]));\n    return found - (found > 8);",
        "rank",
    ),
    (
        "slots[i] = rank(self, apply(self, position, legal[i]));",
        "slots[i] = rank(self, apply(self, position, legal[0]));",
        "rank",
    ),
    (
        "slots[i] = rank(self, apply(self, position, legal[i]));",
        "slots[i] = rank(self, apply(self, position, legal[i])) | PP_KEEPS_TURN;",
        "rank",
    ),
    (
        "if (valid(self, before)) slots[found++] = rank(self, before);",
        "slots[found++] = rank(self, before);",
        None,
    ),
    (
        "if (valid(self, before)) slots[found++] = rank(self, before);",
        "if (valid(self, before) && to != 4) slots[found++] = rank(self, before);",
        "retract",
    ),
    (
        "if (valid(self, before)) slots[found++] = rank(self, before);",
        "if (valid(self, before)) slots[found++] = rank(self, before), slots[found++] = rank(self, before);",
        "retract",
    ),
    (
        "if (!(neighbours[to] & free_places(position) & 1u << from)) continue;",
        "if (!(free_places(position) & 1u << from)) continue;",
        "retract",
    ),
    (
        "make(theirs(position) ^ 1u << to ^ 1u << from, mine(position))",
        "make(mine(position) ^ 1u << to ^ 1u << from, theirs(position))",
        "retract",
    ),
    (
        "    if (tier(self, position) < ALL_PLACED) return 0;\n    for (unsigned to",
        "    if (tier(self, position) == ALL_PLACED) return 0;\n    for (unsigned to",
        "retract",
    ),
    # ---- room ----
    (".max_moves = MEN * 6,", ".max_moves = 8,", "room"),
    (".max_moves = MEN * 6,", ".max_moves = 1 << 20,", "load"),
    (".max_parents = MEN * 6,", ".max_parents = 1,", "room"),
    (".max_parents = MEN * 6,", ".max_parents = 0,", "room"),
    (".tier_count = ALL_PLACED + 1,", ".tier_count = ALL_PLACED,", "kernel"),
    (".tier_count = ALL_PLACED + 1,", ".tier_count = 0,", "load"),
    (".unrank = unrank,", "", "load"),
    (".abi = PP_ABI,", ".abi = 1,", "load"),
    (".status = status,", "", "load"),
    (".players = 2,", ".players = 1,", "status"),
    # ---- the rules, which the Python rules contradict ----
    ("return make(theirs(position), moved);", "return make(moved, theirs(position));", "kernel"),
    ("? PP_ONGOING : PP_LOST;", "? PP_ONGOING : PP_WON;", "kernel"),
    ("? PP_ONGOING : PP_LOST;", "? PP_ONGOING : 9;", "kernel"),
    ("0121, 0757", "0123, 0757", "kernel"),
    ("0421, 0124}", "0421, 0421}", "kernel"),
    ("if (has_line(theirs(position))) return 0;", "", "kernel"),
    ("return count(mine(position)) + count(theirs(position));", "return count(mine(position));", "kernel"),
    ("!has_line(mine(position));", "1;", "rank"),
]


def test_there_are_many_of_them():
    assert len(MISTAKES) >= 25


class Tapatan:
    """The Python rules of tapatan, with a kernel of our choice."""

    def __init__(self, kernel):
        sys.path.insert(0, str(TAPATAN.parent))
        from perfectplay_tapatan import rules

        for name in ("start", "tier", "valid", "moves", "apply", "status", "encode", "decode", "format_move"):
            setattr(self, name, getattr(rules, name))
        self._kernel = kernel

    @hookimpl
    def kernel(self):
        return self._kernel()


@pytest.fixture
def notice(tmp_path):
    """What `check` says, by law, of tapatan with this kernel."""

    def check(source: str) -> dict[str, str]:
        (tmp_path / "kernel.c").write_text(source)
        command = ["cc", "-std=c11", "-O1", "-w", "-shared", "-fPIC", f"-I{INCLUDE}", "-o", "kernel.so", "kernel.c"]
        subprocess.run(command, cwd=tmp_path, check=True)
        library = ctypes.CDLL(str(tmp_path / "kernel.so"))
        address = ctypes.addressof(ctypes.c_char.in_dll(library, "tapatan_kernel"))
        try:
            game = make_game(Tapatan(lambda: Kernel(ffi, ffi.cast("pp_kernel *", address))), name="tapatan")
        except PluginError as error:
            return {"load": str(error)}
        found = {each.law: each.breach or each.hint for each in run_checks(game)}
        return {law: text for law, text in found.items() if text and "nothing tells whose turn it is" not in text}

    return check


def test_without_a_mistake_nothing_is_noticed(notice):
    assert notice(SOURCE) == {}


@pytest.mark.parametrize(("old", "new", "law"), MISTAKES)
def test_the_mistake_is_noticed(notice, old, new, law):
    assert old in SOURCE
    found = notice(SOURCE.replace(old, new))
    if law is None:
        assert found == {}  # harmless
    else:
        assert law in found, found
