"""Compares the speed of rules in Python, compiled rules and kernels in C.

    python benchmarks/python_and_c.py [small] [large]

Without an argument, everything is measured. All times are CPU-seconds, and the best of three counts.

`compile`    translating and compiling, without the cache
`C`          a solve with the kernel in C; only Connect Four has one beside its rules in Python
`compiled`   a solve with compiled rules, and its time divided by that of the kernel in C
`speed-up`   how many times as fast as the Python rules the compiled rules expand positions
`checks`     a solve with compiled rules divided by one without their checks. Only this benchmark can build those.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from perfectplay import Game, load_game, make_game, solve_game
from perfectplay.cli.bench import expand_all, random_positions
from perfectplay.compile import kernel as kernels
from perfectplay.compile.compiler import find_compiler
from perfectplay.compile.kernel import compile_rules, translate_rules
from perfectplay.game.engine import game_kernel
from perfectplay_connect4.rules import ConnectFour
from perfectplay_native.kernel import Kernel

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.compile.project_games import GAMES  # noqa: E402

REPEATS = 3
SAMPLE, EXPANSIONS = 10_000, 50
CHECK = "#define PP_UNLIKELY(condition) __builtin_expect(!!(condition), 0)"
NO_CHECK = "#define PP_UNLIKELY(condition) ((void)(condition), 0)"


@dataclass(frozen=True, slots=True)
class Subject:
    """A game in Python, and the same game with a kernel in C if there is one."""

    name: str
    python: Callable[[], Game]
    native: Callable[[], Game] | None = None


def _connect4(width: int, height: int) -> Subject:
    return Subject(
        f"Connect Four {width}×{height}",
        lambda: make_game(ConnectFour(width, height, 4, False), name="connect4"),
        lambda: load_game("connect4", width=width, height=height, mirror=False),
    )


def _installed(title: str, name: str, **options: int) -> Subject:
    return Subject(title, lambda: load_game(name, **options))


def _example(name: str, game: str) -> Subject:
    return Subject(name, lambda: GAMES[game](ROOT))


SMALL = (
    _example("tic-tac-toe", "tictactoe"),
    _example("mū tōrere", "mutorere"),
    _example("tapatan", "tapatan"),
    _installed("dots 2×2", "dots", rows=2, columns=2),
    _installed("Kalah 3, 2", "kalah", pits=3, seeds=2),
    _connect4(4, 4),
)
LARGE = (
    _installed("dots 2×3", "dots", rows=2, columns=3),
    _installed("Kalah 3, 3", "kalah", pits=3, seeds=3),
    _connect4(5, 5),
)


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of some work, with that of its child processes."""

    def total() -> float:
        usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    started = total()
    work()
    return total() - started


def best(seconds: Callable[[], float]) -> float:
    return min(seconds() for _ in range(REPEATS))


def measure_compilation(game: Game) -> float:
    def compile_anew() -> None:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "rules.c"
            source.write_text(translate_rules(game).source)
            find_compiler().build(source, source.with_suffix(".so"))

    find_compiler()
    return best(lambda: cpu_seconds(compile_anew))


def measure_speed_up(game: Game) -> float:
    """Return how many times as fast as the Python rules the compiled rules expand positions."""
    kernel = compile_rules(game)
    sample = random_positions(kernel, SAMPLE)
    rounds = EXPANSIONS * SAMPLE // len(sample)

    def expand(kernel: Kernel, repeats: int) -> float:
        return best(lambda: cpu_seconds(lambda: [expand_all(kernel, sample) for _ in range(repeats)])) / repeats

    return expand(game_kernel(game), 1) / expand(kernel, rounds)


def remove_checks(game: Game) -> Game:
    """Let solves of a game use compiled rules without checks."""
    translation = translate_rules(game)
    assert translation.source.count(CHECK) == 1
    unchecked = replace(translation, source=translation.source.replace(CHECK, NO_CHECK))
    kernels._compiled[game] = compile_rules(game, unchecked)
    return game


def measure_solves(*games: Game | None) -> tuple[list[float | None], str]:
    """Return the times of solves, in turn and without compiling, and the hash of the first table."""
    for game in filter(None, games):
        kernels.find_compiled(game)
    rows, digest = [], ""
    for _ in range(REPEATS):
        summaries = [solve_game(game, save=False) if game else None for game in games]
        rows.append([summary.cpu_seconds if summary else None for summary in summaries])
        digest = summaries[0].hash if summaries[0] else ""
    return [
        min((time for time in column if time is not None), default=None) for column in zip(*rows, strict=True)
    ], digest


def main() -> None:
    chosen = [("small", SMALL), ("large", LARGE)]
    print(f"{'':<18}  compile         C  compiled  ratio  speed-up  checks  hash")
    for subject in (each for size, subjects in chosen if not sys.argv[1:] or size in sys.argv for each in subjects):
        game = subject.python()
        compilation, speed_up = measure_compilation(game), measure_speed_up(game)
        in_c = subject.native() if subject.native else None
        (compiled, unchecked, native), table_hash = measure_solves(game, remove_checks(subject.python()), in_c)
        assert compiled
        assert unchecked
        print(
            f"{subject.name:<18}  {compilation:5.2f} s",
            f"{native:7.3f} s" if native else " " * 9,
            f"{compiled:7.3f} s ",
            f"{compiled / native:5.2f} " if native else " " * 6,
            f"{speed_up:7.0f}×  {compiled / unchecked:6.2f}  {table_hash}",
            flush=True,
        )


if __name__ == "__main__":
    main()
