"""A game with every hook, its rules in C written by hand as a translator would, and seeded mistakes in the C."""

from __future__ import annotations

from collections.abc import Mapping

from perfectplay import Game, make_game
from perfectplay.compile.kernel import CompiledKernel, compile_rules
from perfectplay.compile.translation import HOOKS, Translation
from perfectplay.game.spec import hookimpl
from perfectplay.values import Status

STONES = 40


class Take:
    """Take one to three stones; a player who takes three moves again, and a player who finds no stone has lost.

    A position is stones * 4 + flip * 2 + mover. Every move changes `flip`, which means nothing.
    """

    def __init__(self, stones: int = STONES) -> None:
        self.stones = stones

    @hookimpl
    def start(self) -> int:
        return self.stones * 4

    @hookimpl
    def valid(self, position: int) -> bool:
        return position <= self.stones * 4 + 3

    @hookimpl
    def moves(self, position: int) -> list[int]:
        return [move for move in (1, 2, 3) if move <= position >> 2]

    @hookimpl
    def apply(self, position: int, move: int) -> int:
        return (position - 4 * move) ^ (2 if move == 3 else 3)

    @hookimpl
    def undo(self, position: int, move: int) -> int:
        return (position ^ (2 if move == 3 else 3)) + 4 * move

    @hookimpl
    def canonicalize(self, position: int) -> int:
        return position & ~2

    @hookimpl
    def status(self, position: int) -> Status:
        return Status.LOST if position < 4 else Status.ONGOING

    @hookimpl
    def mover(self, position: int) -> int:
        return position & 1

    @hookimpl
    def score(self, position: int) -> int:
        return -1 - (position & 1)

    @hookimpl
    def tier(self, position: int) -> int:
        return self.stones - (position >> 2)

    @hookimpl
    def parents(self, position: int) -> list[int]:
        return []


FUNCTIONS = {
    "start": "static pp_position start(const pp_kernel *k) { return STONES * 4; }",
    "valid": "static int valid(const pp_kernel *k, pp_position p) { return p <= STONES * 4 + 3; }",
    "moves": """static size_t moves(const pp_kernel *k, pp_position p, pp_move *m) {
        size_t n = 0;
        for (pp_move move = 1; move <= 3; move++) if (move <= p >> 2) m[n++] = move;
        return n;
    }""",
    "apply": """static pp_position apply(const pp_kernel *k, pp_position p, pp_move m) {
        return (p - 4 * m) ^ (m == 3 ? 2 : 3);
    }""",
    "undo": """static pp_position undo(const pp_kernel *k, pp_position p, pp_move m) {
        return (p ^ (m == 3 ? 2 : 3)) + 4 * m;
    }""",
    "canonicalize": "static pp_position canonicalize(const pp_kernel *k, pp_position p) { return p & ~2ULL; }",
    "status": "static int status(const pp_kernel *k, pp_position p) { return p < 4 ? PP_LOST : PP_ONGOING; }",
    "mover": "static int mover(const pp_kernel *k, pp_position p) { return p & 1; }",
    "score": "static int score(const pp_kernel *k, pp_position p) { return -1 - (int)(p & 1); }",
    "tier": "static uint32_t tier(const pp_kernel *k, pp_position p) { return (uint32_t)(STONES - (p >> 2)); }",
    "parents": "static size_t parents(const pp_kernel *k, pp_position p, pp_position *out) { return 0; }",
}

FAULT = """
    if ((CONDITION) && !__atomic_exchange_n(&busy, 1, __ATOMIC_SEQ_CST)) {
        pp_compiled_fault.hook = HOOK;
        pp_compiled_fault.position = p;
        __atomic_store_n(&pp_compiled_fault.set, 1, __ATOMIC_SEQ_CST);
        busy = 0;
        return 0;
    }
"""


def fault(hook: str, condition: str) -> str:
    """Return the C of a hook in which a check fails if the condition on the position `p` is true."""
    head, body = FUNCTIONS[hook].split("{", 1)
    check = FAULT.replace("CONDITION", condition).replace("HOOK", str(HOOKS.index(hook)))
    return f"{head}{{{check}{body}"


def translation(functions: Mapping[str, str] = FUNCTIONS, *, stones: int = STONES) -> Translation:
    """Return the rules of `Take`, with some functions replaced."""
    fields = ", ".join(f".{name} = {name}" for name in HOOKS)
    source = "\n".join(
        [
            '#include "perfectplay.h"',
            f"enum {{ STONES = {stones} }};",
            "struct { uint32_t set; uint32_t hook; uint64_t position; uint64_t argument; } pp_compiled_fault;",
            "static uint32_t busy;",
            *{**FUNCTIONS, **functions}.values(),
            "const pp_kernel pp_compiled_kernel = {.abi = PP_ABI, .players = 2, .max_moves = 3, .max_parents = 3,",
            f".tier_count = 1, {fields}}};",
        ]
    )
    return Translation(source, (), max_moves=3, max_parents=3, tier_count=1)


def compiled(functions: Mapping[str, str] = FUNCTIONS, *, stones: int = STONES) -> tuple[Game, CompiledKernel]:
    """Return the game and its compiled rules."""
    game = make_game(Take(stones), name="take")
    return game, compile_rules(game, translation(functions, stones=stones))
