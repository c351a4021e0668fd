"""Mistakes in a C kernel with an exact index, one at a time: `solve check` notices each before anything is solved.

The Python rules are correct, as an author's would be.
"""

from __future__ import annotations

import re
import sys

import pytest
from perfectplay_dots._kernel import ffi as dots_ffi
from perfectplay_dots._kernel import lib as dots_lib
from perfectplay_native._engine import lib

from perfectplay import hookimpl, make_game
from perfectplay.testing import sandbox
from perfectplay_dots.plugin import DotsAndBoxes
from perfectplay_native.kernel import Kernel

from .. import zoo
from .seeded import TAPATAN, TAPATAN_KERNEL, Mistake, build_kernel, load_kernel, read_mistakes, report

OPTIONAL_FUNCTIONS = """
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

static size_t parents(const pp_kernel *self, pp_position position, pp_position *parents) {
    size_t found = 0;
    const size_t listed = retract(self, position, parents);
    for (size_t i = 0; i < listed; i++) {
        unrank(self, parents[i], 1, &parents[found]);
        if (parents[found] != PP_NO_POSITION) found++;
    }
    return found;
}

const pp_kernel tapatan_kernel"""
SOURCE = (
    TAPATAN_KERNEL.read_text()
    .replace("const pp_kernel tapatan_kernel", OPTIONAL_FUNCTIONS)
    .replace(".retract = retract,", ".retract = retract,\n    .survey = survey,\n    .parents = parents,")
)
"""Tapatan's kernel with the two optional functions that it lacks."""

MISTAKES = read_mistakes("seeded_kernels.txt")

CRASH = "*(volatile int *)8 = 1;"
LOOP = "for (volatile int i = 1; i;) {}"
HERE = r"position \S+ \(\d+\)"

CRASHES = [
    (
        "slots[i] = rank(self, apply(self, position, legal[i]));",
        f"if (tier(self, position) == 4) {CRASH} else slots[i] = rank(self, apply(self, position, legal[i]));",
        rf"crashed with SIGSEGV in 'expand' of {HERE} during the check 'room' of {HERE};",
    ),
    (
        "const uint32_t men = pp_slot_tier(first);",
        f"const uint32_t men = pp_slot_tier(first);\n    if (men == 6) {CRASH}",
        "crashed with SIGSEGV in 'unrank' of slot 0 of tier 6 during the check 'rank';",
    ),
    (
        "const unsigned moved =",
        "volatile unsigned men = tier(self, position);\n    if (9 / (4 - men) == 5) return 0;\n    unsigned moved =",
        rf"crashed with SIGFPE in 'expand' of {HERE} during the check 'room' of {HERE};",
    ),
    (
        "return make(0, 0);",
        "__builtin_abort();",
        rf"crashed with SIGABRT in 'start' during the check 'kernel' of {HERE};",
    ),
    (
        "const uint32_t men = tier(self, position);",
        f"const uint32_t men = tier(self, position);\n    if (men == 5) {LOOP}",
        rf"did not return within 2 seconds in 'rank' of {HERE} during the check 'rank';",
    ),
    (
        "    if (tier(self, position) < ALL_PLACED) return 0;\n    for",
        f"    if (tier(self, position) < ALL_PLACED) return 0;\n    {LOOP}\n    for",
        rf"did not return within 2 seconds in 'parents' of {HERE} during the check 'parents' of {HERE};",
    ),
    (
        "return moves(self, position, legal) ?",
        "void _exit(int);\n    if (tier(self, position) == 3) _exit(0);\n    return moves(self, position, legal) ?",
        rf"ended the process with exit code 0 in 'status' of {HERE} during the check 'kernel' of {HERE};",
    ),
]
"""Changes that crash or hang the process, and the message."""


class Tapatan:
    """The Python rules of tapatan with another kernel."""

    def __init__(self, library):
        sys.path.insert(0, str(TAPATAN.parent))
        from perfectplay_tapatan import rules

        for name in ("start", "valid", "moves", "apply", "status", "encode", "decode", "format_move"):
            setattr(self, name, getattr(rules, name))
        self._library = library

    @hookimpl
    def tier(self, position):
        return position.bit_count()

    @hookimpl
    def kernel(self):
        return load_kernel(self._library)


@pytest.fixture
def report_kernel(tmp_path):
    """Reports the breaches of tapatan with a change in its kernel."""

    def check(old: str, new: str, *, quick: bool = False, seconds: float = 0.3) -> dict[str, str]:
        library = build_kernel(zoo.change(SOURCE, {old: new}), tmp_path)
        found = report(lambda: make_game(Tapatan(library), name="tapatan"), quick=quick, seconds=seconds)
        return {law: text for law, text in found.items() if "no hook gives the player to move" not in text}

    return check


def test_the_correct_kernel_has_no_breaches(report_kernel):
    assert report_kernel("", "") == {}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.law)
def test_a_mistake_in_the_kernel_is_noticed(report_kernel, mistake: Mistake):
    quick = mistake.law not in ("harmless", "pure")
    found = report_kernel(mistake.old, mistake.new, quick=quick, seconds=mistake.seconds)
    if mistake.law == "harmless":
        assert found == {}
    else:
        assert mistake.law in found, found
        assert re.search(mistake.message, found[mistake.law]), found


def test_no_mistake_was_lost():
    assert len(MISTAKES) >= 65


@pytest.mark.parametrize(("old", "new", "message"), CRASHES)
def test_a_crash_is_reported_with_the_function_and_the_position(report_kernel, monkeypatch, old, new, message):
    monkeypatch.setattr(sandbox, "PATIENCE", 2)
    found = report_kernel(old, new)
    assert re.match(f"the kernel {message}", found["hooks"]), found["hooks"]
    assert found["finite"] == "not completed; see 'hooks'"


class Dots(DotsAndBoxes):
    """Dots and boxes, where a player who closes a box moves again, with correct hooks and a changed kernel."""

    def __init__(self, **fields):
        super().__init__(2, 1)
        self._correct = self._kernel
        board = dots_ffi.new("dots_board *")
        dots_lib.dots_board_fill(board, 2, 1)
        self._kernel = Kernel(dots_ffi, dots_lib.dots_kernel, context=board, max_moves=7, tier_count=8, **fields)

    @hookimpl
    def mover(self, position):
        return self._correct.mover(position)

    @hookimpl
    def score(self, position):
        return self._correct.score(position)


TURN_MISTAKES = [
    ({"flags": lib.PP_TURNS_ALTERNATE}, "alternation", "PP_TURNS_ALTERNATE; remove the flag"),
    ({"mover": dots_ffi.NULL}, "alternation", "has no 'mover'"),
    ({"mover": dots_lib.dots_kernel.status}, "kernel", "disagree on 'mover' in position"),
    ({"score": dots_ffi.NULL}, "kernel", "disagree on 'score' in position"),
    ({"score": dots_lib.dots_kernel.mover}, "kernel", "disagree on 'score' in position"),
]


@pytest.mark.parametrize(("fields", "law", "message"), TURN_MISTAKES)
def test_a_mistake_about_turns_or_scores_is_noticed(fields, law, message):
    found = report(lambda: make_game(Dots(**fields), name="dots"))
    assert message in found.get(law, ""), found


def test_correct_turns_and_scores_have_no_breaches():
    assert report(lambda: make_game(Dots(), name="dots")) == {}
