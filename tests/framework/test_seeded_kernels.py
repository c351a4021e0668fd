"""Mistakes in a C kernel with an exact index, one at a time: `solve check` notices each before anything is solved.

The Python rules are correct, as an author's would be.
"""

from __future__ import annotations

import re
import sys

import pytest

from perfectplay import hookimpl, make_game
from perfectplay.testing import sandbox

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


TURNS = (zoo.HERE / "turns.c").read_text()
"""A kernel for the rules of turns.py, where a player may move again and the winner has a score."""

TURN_MISTAKES = [
    (".mover = mover,", ".mover = mover,\n    .flags = PP_TURNS_ALTERNATE,", "alternation", "remove the flag"),
    (".mover = mover,", "", "alternation", "has no 'mover'"),
    (".mover = mover,", ".mover = status,", "kernel", "disagree on 'mover' in position"),
    (".score = score,", "", "kernel", "disagree on 'score' in position"),
    (".score = score,", ".score = mover,", "kernel", "disagree on 'score' in position"),
]


@pytest.fixture
def report_turns(tmp_path):
    """Reports the breaches of turns.py with a change in its kernel."""

    def check(old: str, new: str) -> dict[str, str]:
        library = build_kernel(zoo.change(TURNS, {old: new}), tmp_path)
        source = zoo.module_of((zoo.HERE / "turns.py").read_text(), kernel=lambda: load_kernel(library, "turns_kernel"))
        return report(lambda: make_game(source, name="turns"))

    return check


@pytest.mark.parametrize(("old", "new", "law", "message"), TURN_MISTAKES)
def test_a_mistake_about_turns_or_scores_is_noticed(report_turns, old, new, law, message):
    found = report_turns(old, new)
    assert message in found.get(law, ""), found


def test_correct_turns_and_scores_have_no_breaches(report_turns):
    assert report_turns("", "") == {}
