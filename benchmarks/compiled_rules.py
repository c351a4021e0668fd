"""Compares the speed of compiled rules with that of Python, and measures what compiling and the checks cost.

    python benchmarks/compiled_rules.py [small] [large]

Without an argument, everything is measured. All times are CPU-seconds, and the best of three counts.

`compile`    translating and compiling, without the cache
`solve`      a solve with compiled rules
`speed-up`   how many times as fast as the Python rules the compiled rules expand positions
`checks`     a solve with compiled rules divided by one without their checks. Only this benchmark can build those.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from perfectplay import Game, load_game, solve_game
from perfectplay.cli.bench import expand_all, random_positions
from perfectplay.compile import kernel as kernels
from perfectplay.compile.compiler import find_compiler
from perfectplay.compile.kernel import compile_rules, translate_rules
from perfectplay.game.engine import game_kernel
from perfectplay_native.kernel import Kernel

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.compile.project_games import GAMES  # noqa: E402

REPEATS = 3
SAMPLE, EXPANSIONS = 10_000, 50
CHECK = "#define PP_UNLIKELY(condition) __builtin_expect(!!(condition), 0)"
NO_CHECK = "#define PP_UNLIKELY(condition) ((void)(condition), 0)"


Load = Callable[[], Game]


def _installed(name: str, **options: int) -> Load:
    return lambda: load_game(name, **options)


def _example(name: str) -> Load:
    return lambda: GAMES[name](ROOT)


SMALL = {
    "tic-tac-toe": _example("tictactoe"),
    "mū tōrere": _example("mutorere"),
    "tapatan": _example("tapatan"),
    "dots 2×2": _installed("dots", rows=2, columns=2),
    "Kalah 3, 2": _installed("kalah", pits=3, seeds=2),
    "Connect Four 4×4": _installed("connect4", width=4, height=4, mirror=False),
}
LARGE = {
    "dots 2×3": _installed("dots", rows=2, columns=3),
    "Kalah 3, 3": _installed("kalah", pits=3, seeds=3),
    "Connect Four 5×5": _installed("connect4", width=5, height=5, mirror=False),
}


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


def measure_solves(*games: Game) -> tuple[list[float], str]:
    """Return the times of solves, in turn and without compiling, and the hash of the first table."""
    for game in games:
        kernels.find_compiled(game)
    rounds = [[solve_game(game, save=False) for game in games] for _ in range(REPEATS)]
    return [min(each.cpu_seconds for each in column) for column in zip(*rounds, strict=True)], rounds[0][0].hash


def main() -> None:
    chosen = [("small", SMALL), ("large", LARGE)]
    print(f"{'':<18}  compile    solve  speed-up  checks  hash")
    for name, load in (
        each for size, games in chosen if not sys.argv[1:] or size in sys.argv for each in games.items()
    ):
        compilation, speed_up = measure_compilation(load()), measure_speed_up(load())
        (compiled, unchecked), table_hash = measure_solves(load(), remove_checks(load()))
        print(
            f"{name:<18}  {compilation:5.2f} s  {compiled:5.3f} s",
            f"{speed_up:7.0f}×  {compiled / unchecked:6.2f}  {table_hash}",
            flush=True,
        )


if __name__ == "__main__":
    main()
