"""Mistakes in a C kernel with a perfect index, one at a time: `check` names every one before anything is solved.

A line: what of tapatan's kernel.c is replaced by what, and the law that tells the author; `load` if it is refused at
once, None if it is harmless. The Python rules stay right, as an author's would. What crashes is told like the rest.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from pathlib import Path

import pytest
from perfectplay_dots._kernel import ffi as dots_ffi
from perfectplay_dots._kernel import lib as dots_lib
from perfectplay_native._engine import ffi, lib

from perfectplay import hookimpl, make_game
from perfectplay.errors import PluginError
from perfectplay.game.game import Game
from perfectplay.testing import run_checks
from perfectplay.testing import sandbox as own_process
from perfectplay_dots.rules import DotsAndBoxes
from perfectplay_native.build import INCLUDE
from perfectplay_native.kernel import Kernel

TAPATAN = Path(__file__).parent.parent.parent / "docs" / "examples" / "tapatan" / "perfectplay_tapatan"
SOURCE = (
    (TAPATAN / "kernel.c")
    .read_text()
    .replace(
        "const pp_kernel tapatan_kernel",
        """
static void survey(const pp_kernel *self, pp_slot first, size_t count, uint64_t wanted, uint8_t *codes, pp_slot *slots,
                   uint32_t *ends) {
    size_t written = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(wanted >> i & 1)) continue;
        pp_position position;
        unrank(self, first + i, 1, &position);
        const int code = position == PP_NO_POSITION ? PP_EMPTY_SLOT : status(self, position);
        if (codes) codes[i] = (uint8_t)code;
        if (!slots) continue;
        if (code == PP_ONGOING) written += expand(self, position, slots + written);
        ends[i] = (uint32_t)written;
    }
}

/* For the kernels below that name parents as positions. */
static size_t parents(const pp_kernel *self, pp_position position, pp_position *parents) {
    size_t found = 0;
    const size_t listed = retract(self, position, parents);
    for (size_t i = 0; i < listed; i++) {
        unrank(self, parents[i], 1, &parents[found]);
        if (parents[found] != PP_NO_POSITION) found++;
    }
    return found;
}

const pp_kernel tapatan_kernel""",
    )
    .replace(".retract = retract,", ".retract = retract,\n    .survey = survey,\n    .parents = parents,")
)
"""Tapatan's kernel, and the two functions that it can do without: mistakes in those are noticed too."""

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
    # ---- survey: everything about a run of slots ----
    ("PP_EMPTY_SLOT : status(self, position);", "PP_LOST : status(self, position);", "survey"),
    ("if (!(wanted >> i & 1)) continue;", "", "survey"),
    ("unrank(self, first + i, 1, &position);", "unrank(self, first, 1, &position);", "survey"),
    ("if (code == PP_ONGOING) written +=", "if (codes && code == PP_ONGOING) written +=", "survey"),
    ("if (codes) codes[i] = (uint8_t)code;", "if (codes) codes[i] = code ? code : PP_WINS_NOW;", "survey"),
    ("expand(self, position, slots + written);", "expand(self, position, slots);", "survey"),
    (
        "written += expand(self, position, slots + written);",
        "written += expand(self, position, slots + written) - (tier(self, position) == 4);",
        "survey",
    ),
    ("ends[i] = (uint32_t)written;", "ends[i] = (uint32_t)(written / 2);", "survey"),
    ("ends[i] = (uint32_t)written;", "ends[i] = 1000000;", "hooks"),
    ("ends[i] = (uint32_t)written;", "ends[i] = 100 - i;", "hooks"),
    # ---- parents: those that count are the open ones in tiers that play returns to ----
    ("return found;\n}\n\nconst pp_kernel", "return found - (found > 2);\n}\n\nconst pp_kernel", "parents"),
    ("unrank(self, parents[i], 1, &parents[found]);", "parents[found] = position;", "parents"),
    ("unrank(self, parents[i], 1, &parents[found]);", "parents[found] = 0777777;", "parents"),
    (
        "const size_t listed = retract(self, position, parents);",
        "const size_t listed = status(self, position) ? 0 : retract(self, position, parents);",
        None,
    ),
    (
        "return found;\n}\n\nconst pp_kernel",
        "parents[found] = parents[found ? found - 1 : 0];\n    return found + (found > 0);\n}\n\nconst pp_kernel",
        None,  # listed twice
    ),
    (".max_parents = MEN * 6,", ".max_parents = 2,", "room"),
    # ---- something kept between calls, which another thread overwrites ----
    (
        "pp_slot *slots) {\n    pp_move legal[MEN * 8];",
        "pp_slot *slots) {\n    static pp_move legal[MEN * 8];",
        "pure",
    ),
    (
        "    unsigned squeezed = 0, next = 0;",
        "    static unsigned squeezed, next;\n    squeezed = next = 0;",
        "pure",
    ),
    # ---- the rules, which the Python rules contradict ----
    (".retract = retract,", ".retract = retract,\n    .wins_now = valid,", "kernel"),
    (".retract = retract,", ".retract = retract,\n    .mover = valid,", "turns"),
    ("return make(theirs(position), moved);", "return make(moved, theirs(position));", "kernel"),
    ("? PP_ONGOING : PP_LOST;", "? PP_ONGOING : PP_WON;", "kernel"),
    ("? PP_ONGOING : PP_LOST;", "? PP_ONGOING : 9;", "kernel"),
    ("0121, 0757", "0123, 0757", "kernel"),
    ("0421, 0124}", "0421, 0421}", "kernel"),
    ("if (has_line(theirs(position))) return 0;", "", "kernel"),
    ("return count(mine(position)) + count(theirs(position));", "return count(mine(position));", "kernel"),
    ("!has_line(mine(position));", "1;", "rank"),
]

CRASH = "*(volatile int *)8 = 1;"
LOOP = "for (volatile int i = 1; i;) {}"
HERE = r"position \S+ \(\d+\)"

CRASHES = [
    (
        "slots[i] = rank(self, apply(self, position, legal[i]));",
        f"if (tier(self, position) == 4) {CRASH} else slots[i] = rank(self, apply(self, position, legal[i]));",
        rf"crashed with SIGSEGV in 'expand' of {HERE}, while the law 'room' was tried on {HERE};",
    ),
    (
        "const uint32_t men = pp_slot_tier(first);",
        f"const uint32_t men = pp_slot_tier(first);\n    if (men == 6) {CRASH}",
        "crashed with SIGSEGV in 'unrank' of slot 0 of tier 6, while the law 'rank' was tried;",
    ),
    (
        "const unsigned moved =",
        "volatile unsigned men = tier(self, position);\n    if (9 / (4 - men) == 5) return 0;\n    unsigned moved =",
        rf"crashed with SIGFPE in 'expand' of {HERE}, while the law 'room' was tried on {HERE};",
    ),
    (
        "return make(0, 0);",
        "__builtin_abort();",
        rf"crashed with SIGABRT in 'start', while the law 'kernel' was tried on {HERE};",
    ),
    (
        "const uint32_t men = tier(self, position);",
        f"const uint32_t men = tier(self, position);\n    if (men == 5) {LOOP}",
        rf"gave no answer in 2 seconds in 'rank' of {HERE}, while the law 'rank' was tried;",
    ),
    (
        "    if (tier(self, position) < ALL_PLACED) return 0;\n    for",
        f"    if (tier(self, position) < ALL_PLACED) return 0;\n    {LOOP}\n    for",
        rf"gave no answer in 2 seconds in 'parents' of {HERE}, while the law 'parents' was tried on {HERE};",
    ),
    (
        "return moves(self, position, legal) ?",
        "void _exit(int);\n    if (tier(self, position) == 3) _exit(0);\n    return moves(self, position, legal) ?",
        rf"ended the process with exit code 0 in 'status' of {HERE}, while the law 'room' was tried on {HERE};",
    ),
]
"""What would end, or hang, a process that asks; and what `check` says of it."""


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


def build(source: str, folder: Path) -> Path:
    """The library of a kernel."""
    (folder / "kernel.c").write_text(source)
    command = ["cc", "-std=c11", "-O1", "-w", "-shared", "-fPIC", f"-I{INCLUDE}", "-o", "kernel.so", "kernel.c"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "kernel.so"


def load(library: Path) -> Kernel:
    address = ctypes.addressof(ctypes.c_char.in_dll(ctypes.CDLL(str(library)), "tapatan_kernel"))
    return Kernel(ffi, ffi.cast("pp_kernel *", address))


@pytest.fixture
def notice(tmp_path):
    """What `check` says, by law, of tapatan with this kernel."""

    def check(source: str) -> dict[str, str]:
        library = build(source, tmp_path)
        try:
            game = make_game(Tapatan(lambda: load(library)), name="tapatan")
        except PluginError as error:
            return {"load": str(error)}
        return noticed(game)

    return check


def noticed(game: Game) -> dict[str, str]:
    found = {each.law: each.breach or each.hint for each in run_checks(game)}
    return {law: text for law, text in found.items() if text and "nothing tells whose turn it is" not in text}


def test_without_a_mistake_nothing_is_noticed(notice):
    assert notice(SOURCE) == {}


@pytest.mark.parametrize(("old", "new", "message"), CRASHES)
def test_a_crash_is_told_in_terms_of_the_game(notice, monkeypatch, old, new, message):
    assert old in SOURCE
    monkeypatch.setattr(own_process, "PATIENCE", 2)
    found = notice(SOURCE.replace(old, new))
    assert re.match(f"the kernel {message}", found["hooks"]), found["hooks"]
    assert found["finite"] == "not tried to the end: see 'hooks'"


@pytest.mark.parametrize(("old", "new", "law"), MISTAKES)
def test_the_mistake_is_noticed(notice, old, new, law):
    assert old in SOURCE
    found = notice(SOURCE.replace(old, new))
    if law is None:
        assert found == {}  # harmless
    else:
        assert law in found, found


class Dots(DotsAndBoxes):
    """Dots and boxes, in which who closes a box moves again: Python says so rightly, the kernel as we choose."""

    def __init__(self, **fields):
        super().__init__(2, 1)
        self._right = self._kernel
        board = dots_ffi.new("dots_board *")
        dots_lib.dots_board_fill(board, 2, 1)
        self._kernel = Kernel(dots_ffi, dots_lib.dots_kernel, context=board, max_moves=7, tier_count=8, **fields)

    @hookimpl
    def mover(self, position):
        return self._right.mover(position)

    @hookimpl
    def score(self, position):
        return self._right.score(position)


TURN_MISTAKES = [
    ({"flags": lib.PP_TURNS_ALTERNATE}, "alternation", "has the flag PP_TURNS_ALTERNATE: leave the flag out"),
    ({"mover": dots_ffi.NULL}, "alternation", "has no 'mover', which says that every move passes the turn: give it"),
    ({"mover": dots_lib.dots_kernel.status}, "kernel", "kernel and rules disagree on 'mover' in position"),
    ({"score": dots_ffi.NULL}, "kernel", "kernel and rules disagree on 'score' in position"),
    ({"score": dots_lib.dots_kernel.mover}, "kernel", "kernel and rules disagree on 'score' in position"),
]


@pytest.mark.parametrize(("fields", "law", "message"), TURN_MISTAKES)
def test_a_mistake_about_turns_and_scores_is_noticed(fields, law, message):
    found = noticed(make_game(Dots(**fields), name="dots"))
    assert message in found.get(law, ""), found


def test_turns_and_scores_without_a_mistake_are_not_noticed():
    assert noticed(make_game(Dots(), name="dots")) == {}
