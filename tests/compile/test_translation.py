"""Games in Python, translated to C: the same tables, and an error that names what cannot be translated."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from perfectplay import Status, hookimpl, load_game, make_game, solve_game
from perfectplay.authoring import Index
from perfectplay.cli.bench import random_positions
from perfectplay.compile.translation import HOOKS, HookText, Untranslatable, explain, translate
from perfectplay.game.game import Game
from perfectplay_native.python_kernel import PythonKernel

from .project_games import GAMES, WIDE, ZOO, CompiledGame


def solve_hash(game: Game) -> str:
    result = solve_game(game, save=False)
    with result.table:
        return result.hash


def interpret(game: Game) -> None:
    game.kernel = PythonKernel(game.rules, rules_version=game.rules_version)


@pytest.mark.parametrize("name", GAMES)
def test_a_translated_game_has_the_same_table(name: str, tmp_path: Path) -> None:
    game = GAMES[name](tmp_path)
    compiled = CompiledGame(game, tmp_path)
    assert not compiled.translation.omitted
    assert {text.name for text in compiled.translation.hooks} == {hook for hook in HOOKS if hook in game.hook_functions}
    interpret(game)
    expected = solve_hash(game)
    game.kernel = compiled.kernel
    assert solve_hash(game) == expected
    assert compiled.fault.set == 0


def test_at_least_eighteen_games_are_translated() -> None:
    assert len(GAMES) >= 18


def test_many_moves(tmp_path: Path) -> None:
    game = load_game(str(WIDE))
    kernel = CompiledGame(game, tmp_path).kernel
    for position in (0, 1, 361, 399, 401, 400 * 361 + 361):
        assert kernel.moves(position) == game.moves(position)
        assert kernel.status(position) == game.status(position)


class Stones:
    """Take one or two stones."""

    @hookimpl
    def start(self):
        return 7

    @hookimpl
    def moves(self, position):
        return [taken for taken in (1, 2) if taken <= position]

    @hookimpl
    def apply(self, position, move):
        return position - move

    @hookimpl
    def status(self, position):
        return Status.ONGOING if position else Status.LOST


class BadIndex(Stones):
    @hookimpl
    def apply(self, position, move):
        return (1, 2, 3)[position] - move


class BadDivision(Stones):
    @hookimpl
    def apply(self, position, move):
        return position // (move - 2)


class BadShift(Stones):
    @hookimpl
    def apply(self, position, move):
        return 1 << position - 7 - move


class TooLarge(Stones):
    @hookimpl
    def apply(self, position, move):
        return position << 60 + move


class AllOnes(Stones):
    @hookimpl
    def apply(self, position, move):
        return 2**64 - move // 2


class NoReturn(Stones):
    @hookimpl  # noqa: RET503
    def apply(self, position, move):
        if position < 5:
            return position - move


class Raises(Stones):
    @hookimpl
    def apply(self, position, move):
        if position > 5:
            raise ValueError("too many")
        return position - move


class Endless(Stones):
    @hookimpl
    def apply(self, position, move):
        while position:
            position |= 1
        return position


@pytest.mark.parametrize(
    "plugin", [BadIndex, BadDivision, BadShift, TooLarge, AllOnes, NoReturn, Raises, Endless], ids=lambda p: p.__name__
)
def test_a_failed_check_is_a_fault(plugin: type, tmp_path: Path) -> None:
    compiled = CompiledGame(make_game(plugin(), name="stones"), tmp_path)
    assert compiled.kernel.apply(7, 2) == 0
    assert (compiled.fault.set, HOOKS[compiled.fault.hook]) == (1, "apply")
    assert (compiled.fault.position, compiled.fault.argument) == (7, 2)
    compiled.kernel.apply(6, 2)
    assert compiled.fault.position == 7  # the first fault stays


class Impossible(Stones):
    @hookimpl
    def start(self):
        return 1

    @hookimpl
    def moves(self, position):
        return [position << 30]

    @hookimpl
    def mover(self, position):
        return position

    @hookimpl
    def score(self, position):
        return position - 2**15

    @hookimpl
    def tier(self, position):
        return position


@pytest.mark.parametrize(
    ("hook", "good", "bad"), [("moves", 3, 4), ("mover", 1, 2), ("score", 1, 0), ("tier", 65535, 65536)]
)
def test_an_impossible_result_is_a_fault(hook: str, good: int, bad: int, tmp_path: Path) -> None:
    compiled = CompiledGame(make_game(Impossible(), name="stones"), tmp_path)
    getattr(compiled.kernel, hook)(good)
    assert compiled.fault.set == 0
    getattr(compiled.kernel, hook)(bad)
    assert (compiled.fault.set, HOOKS[compiled.fault.hook], compiled.fault.position) == (1, hook, bad)


WINS_RECOGNIZED = ["connect4", "ladder", "tictactoe"]
WINS_NOT_RECOGNIZED = {
    "dots": "the mover may move again",
    "kalah": "scores",
    "sliding": "one player",
    "tapatan": "the status has a loop",
}


@pytest.mark.parametrize("name", WINS_RECOGNIZED)
def test_wins_in_one_move_are_recognized(name: str, tmp_path: Path) -> None:
    game = GAMES[name](tmp_path)
    kernel = CompiledGame(game, tmp_path).kernel
    found = 0
    for position in random_positions(kernel, 1000):
        if game.status(position) is Status.ONGOING:
            children = [game.canonicalize(game.apply(position, move)) for move in game.moves(position)]
            wins = any(game.status(child) is Status.LOST for child in children)
            assert kernel.wins_now(position) == wins, position
            found += wins
    assert found


@pytest.mark.parametrize("name", WINS_NOT_RECOGNIZED)
def test_wins_are_not_recognized_where_it_is_slow_or_not_wanted(name: str, tmp_path: Path) -> None:
    assert "wins_now" not in translate(GAMES[name](tmp_path)).source


class Turns(Stones):
    TURNS_ALTERNATE = True

    @hookimpl
    def mover(self, position):
        return 0


@pytest.mark.parametrize("promise", [True, False])
def test_the_promise_of_alternating_turns_is_a_flag_of_every_kernel(promise: bool, tmp_path: Path) -> None:
    plugin = Turns()
    plugin.TURNS_ALTERNATE = promise
    game = make_game(plugin, name="stones")
    compiled = CompiledGame(game, tmp_path).kernel
    assert (compiled.turns_alternate, PythonKernel(game.rules).turns_alternate) == (promise, promise)
    assert compiled.has("wins_now") == promise


class Indexed(Stones):
    @hookimpl
    def index(self):
        return Index([(0,), (1,), (2,)], {1: (0, 3)})


def test_wins_are_not_recognized_in_a_game_with_an_index() -> None:
    assert "wins_now" in translate(make_game(Stones(), name="stones")).source
    assert "wins_now" not in translate(make_game(Indexed(), name="stones")).source


class Asymmetric(Stones):
    """The status of 0, which is lost, and that of its canonical form 7 differ."""

    @hookimpl
    def canonicalize(self, position):
        return position or 7


@pytest.mark.parametrize(("plugin", "wins"), [(Stones, True), (Asymmetric, False)])
def test_a_win_needs_a_lost_canonical_form(plugin: type, wins: bool, tmp_path: Path) -> None:
    kernel = CompiledGame(make_game(plugin(), name="stones"), tmp_path).kernel
    assert kernel.wins_now(1) == wins


class BadStatus(Stones):
    @hookimpl
    def status(self, position):
        if position == 4:
            raise ValueError("four")
        return Status.ONGOING if position else Status.LOST


@pytest.mark.parametrize(("plugin", "position", "hook"), [(BadIndex, 4, "apply"), (BadStatus, 5, "status")])
def test_a_fault_is_not_a_win_and_is_left_to_the_other_functions(
    plugin: type, position: int, hook: str, tmp_path: Path
) -> None:
    compiled = CompiledGame(make_game(plugin(), name="stones"), tmp_path)
    assert not compiled.kernel.wins_now(position)
    assert compiled.fault.set == 0
    compiled.kernel.children(position)
    compiled.kernel.status(position - 1)
    assert (compiled.fault.set, HOOKS[compiled.fault.hook]) == (1, hook)


COUNT = 0
SEEN: list[int] = []


class AssignsGlobal(Stones):
    @hookimpl
    def apply(self, position, move):
        global COUNT
        COUNT += 1
        return position - move


class ReadsChangingGlobal(Stones):
    @hookimpl
    def apply(self, position, move):
        return position - move + COUNT


class ChangesGlobal(Stones):
    @hookimpl
    def apply(self, position, move):
        SEEN.append(position)
        return position - move


class ChangesSelf(Stones):
    @hookimpl
    def apply(self, position, move):
        self.last = position
        return position - move


class UsesDict(Stones):
    @hookimpl
    def apply(self, position, move):
        left = {move: position}
        return left[move] - move


class UsesFloat(Stones):
    @hookimpl
    def apply(self, position, move):
        return int(position * 1.0) - move


class Divides(Stones):
    @hookimpl
    def apply(self, position, move):
        return position / move


class Tries(Stones):
    @hookimpl
    def apply(self, position, move):
        try:
            return position - move
        except ValueError:
            return 0


class Recursive(Stones):
    def fewer(self, position, move):
        return self.fewer(position - 1, move - 1) if move else position

    @hookimpl
    def apply(self, position, move):
        return self.fewer(position, move)


class NotAStatus(Stones):
    @hookimpl
    def status(self, position):
        return 0 if position else Status.LOST


class Generates(Stones):
    @hookimpl
    def moves(self, position):
        yield 1


class TwoNames(Stones):
    @hookimpl
    def apply(self, position, move):
        first = [position, move]
        second = first
        if move == 2:
            second = [0, 0]
        first[0] = second[1]
        return second[0]


class TwoNamesForAnEmptyList(Stones):
    @hookimpl
    def apply(self, position, move):
        first = []
        second = first if move == 2 else [move]
        second.append(move)
        return len(first)


class GrowsInALoop(Stones):
    @hookimpl
    def apply(self, position, move):
        numbers = [move]
        for number in numbers:
            if number < 3:
                numbers.append(number + 1)
        return position - numbers[-1]


class GrowsInALoopOverPairs(Stones):
    @hookimpl
    def apply(self, position, move):
        numbers = list(range(position))
        for i, _ in enumerate(numbers):
            if i < 3:
                numbers += [move]
        return len(numbers)


class KeepsAnIterator(Stones):
    @hookimpl
    def apply(self, position, move):
        pairs = zip((position, 1), (1, move), strict=True)
        return sum(a for a, _ in pairs) - sum(b for _, b in pairs)


class KeepsAGenerator(Stones):
    @hookimpl
    def apply(self, position, move):
        numbers = (number + move for number in range(position))
        return sum(numbers) + sum(numbers)


@pytest.mark.parametrize(
    ("plugin", "construct"),
    [
        (AssignsGlobal, "global variable"),
        (ReadsChangingGlobal, "'COUNT'"),
        (ChangesGlobal, "outlive"),
        (ChangesSelf, "attribute"),
        (UsesDict, "dict"),
        (UsesFloat, "float"),
        (Divides, "'/'"),
        (Tries, "'try'"),
        (Recursive, "recursion in fewer"),
        (NotAStatus, "Status"),
        (Generates, "generator"),
        (TwoNames, "two names"),
        (TwoNamesForAnEmptyList, "two names"),
        (GrowsInALoop, "length of a list in a loop over it"),
        (GrowsInALoopOverPairs, "length of a list in a loop over it"),
        (KeepsAnIterator, "iterator in a variable"),
        (KeepsAGenerator, "iterator in a variable"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_cannot_be_translated_is_named_with_its_line(plugin: type, construct: str) -> None:
    game = make_game(Stones(), name="stones")
    game.hook_functions = {hook: getattr(plugin(), hook) for hook in ("start", "moves", "apply", "status")}
    with pytest.raises(Untranslatable) as caught:
        translate(game)
    error = caught.value
    assert construct in error.construct
    assert re.fullmatch(r"test_translation\.py:\d+: .* is not supported in compiled rules", str(error))
    reasons = [each for each in explain(game) if isinstance(each, Untranslatable)]
    assert [(each.hook, each.construct) for each in reasons] == [(error.hook, error.construct)]


def test_a_hook_is_explained_in_both_languages() -> None:
    texts = explain(make_game(Stones(), name="stones"))
    assert [text.name for text in texts if isinstance(text, HookText)] == ["start", "moves", "apply", "status"]
    text = texts[2]
    assert isinstance(text, HookText)
    assert text.python.splitlines()[0].strip() == "@hookimpl"
    assert "return position - move" in text.python
    assert "rules_apply(" in text.c
    assert Path(text.file).name == "test_translation.py"


def test_a_changed_source_file_is_not_translated(tmp_path: Path) -> None:
    file = tmp_path / "game.py"
    text = (ZOO / "subtraction.py").read_text()
    file.write_text(text)
    game = load_game(str(file))
    file.write_text(text.replace("(1, 2)", "(1, 3)"))
    with pytest.raises(Untranslatable, match=r"game\.py:\d+: .*differs from its source file"):
        translate(game)


def test_positions_use_all_64_bits(tmp_path: Path) -> None:
    class High(Stones):
        @hookimpl
        def start(self):
            return 2**64 - 2

        @hookimpl
        def apply(self, position, move):
            return position - 2 * move ^ 1 << 63

    kernel = CompiledGame(make_game(High(), name="high"), tmp_path).kernel
    assert kernel.start() == 2**64 - 2
    for position in (2**64 - 2, 2**63, 2**63 + 5, 9):
        assert kernel.apply(position, 2) == (position - 4) ^ 1 << 63
