"""Game: defaults for omitted hooks, checked results, and errors that name the hook."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfectplay.errors import PluginError, UsageError
from perfectplay.game.loading import load_game, make_game
from perfectplay.values import Status

from .. import zoo


def test_game_calls_the_plugins_rules(subtraction):
    assert subtraction.moves(7) == [1, 2]
    assert subtraction.apply(7, 2) == 5
    assert subtraction.undo_moves(7) == [(1, 7), (2, 7)]
    assert subtraction.status(0) is Status.LOST
    assert subtraction.kernel is None
    assert subtraction.identity == "subtraction"
    assert subtraction.rules_version == 1


def test_omitted_hooks_have_defaults(subtraction):
    assert subtraction.decode(5) == "5"
    assert subtraction.encode(" 5 ") == 5
    assert subtraction.notations(5) == {"text": "5"}
    assert subtraction.format_move(5, 2) == "2"
    assert subtraction.parse_move(5, "2") == 2
    assert subtraction.board(5) is None
    assert (subtraction.has_tier, subtraction.tier(5)) == (False, 0)
    assert not subtraction.has_parents


@given(text=st.text() | st.integers().map(str))
def test_encode_gives_a_valid_position_or_a_usage_error(text, subtraction, tic_tac_toe):
    for game in (subtraction, tic_tac_toe):
        with suppress(UsageError):
            assert game.valid(game.encode(text))


@pytest.mark.parametrize("text", ["8", "-1", "five", "", str(2**64 - 1), "9" * 5000])
def test_encode_rejects_other_texts(subtraction, text):
    with pytest.raises(UsageError):
        subtraction.encode(text)


def test_the_text_of_a_plugins_value_error_reaches_the_user(tic_tac_toe):
    with pytest.raises(UsageError, match=r"cannot read 'XX' as a position of tictactoe: nine of \. X O were expected"):
        tic_tac_toe.encode("XX")
    with pytest.raises(UsageError, match=r"'XXX\.{6}' is not a position of tictactoe that can occur"):
        tic_tac_toe.encode("XXX......")


def test_moves_are_parsed_by_their_format(tic_tac_toe):
    assert tic_tac_toe.parse_move(0, "b2") == 4
    with pytest.raises(UsageError, match="cannot read 'z9' as a move here: the legal moves are a3, b3"):
        tic_tac_toe.parse_move(0, "z9")
    with pytest.raises(UsageError):
        tic_tac_toe.parse_move(tic_tac_toe.encode("....X...."), "b2")


def test_an_illegal_move_from_a_plugins_parser_is_rejected(codes):
    game = make_game(codes.module_of(codes.subtraction + "\n@hookimpl\ndef parse_move(position, text): return 9\n"))
    with pytest.raises(UsageError, match="'9' is not a legal move here: the legal moves are 1, 2"):
        game.parse_move(7, "9")


def test_moves_are_grouped_by_symmetry(tic_tac_toe):
    classes = tic_tac_toe.move_classes(0)
    assert sorted(map(sorted, classes)) == [[0, 2, 6, 8], [1, 3, 5, 7], [4]]


@pytest.mark.parametrize("position", [8, -1, 2**64, "7", None, 7.0])
def test_every_method_rejects_anything_but_a_position(subtraction, position):
    for method in (
        subtraction.moves,
        subtraction.canonicalize,
        subtraction.status,
        subtraction.decode,
        subtraction.board,
    ):
        with pytest.raises(UsageError, match="is not a position of subtraction"):
            method(position)


@pytest.mark.parametrize(
    ("old", "new", "call", "message"),
    [
        (
            "position - move",
            "position - move / 0",
            ("apply", 5, 1),
            "hook 'apply' raised ZeroDivisionError: .* in position 5",
        ),
        (
            "position - move",
            "-1",
            ("apply", 5, 1),
            "hook 'apply' returned -1 in position 5: a position must fit 64 bits",
        ),
        ("position - move", "2**64 - 1", ("apply", 5, 1), r"from 0 to 2\*\*64-2"),
        ("position - move", "None", ("apply", 5, 1), "returned None in position 5: a position is an int"),
        ("position + move", "'x'", ("undo_moves", 5), "hook 'undo' returned 'x' in position 4"),
        ("if taken <= position]", "] if position != 5 else None", ("moves", 5), "expected a list of moves"),
        ("if taken <= position]", "] if position != 5 else [1 << 32]", ("moves", 5), "a move must fit 32 bits"),
        (
            "if taken <= position]",
            "] if position != 5 else {}[5]",
            ("moves", 5),
            "'moves' raised KeyError: 5 in position 5",
        ),
        ("else Status.LOST", "else 17", ("status", 0), "returned 17 in position 0: expected a Status"),
    ],
)
def test_a_mistake_in_a_hook_names_game_hook_and_position(old, new, call, message):
    game = zoo.make("subtraction", {old: new}, name="stones")
    method, *arguments = call
    with pytest.raises(PluginError, match=message) as caught:
        getattr(game, method)(*arguments)
    assert str(caught.value).startswith("stones: ")
    assert "\n" not in str(caught.value)


def test_a_hook_call_has_three_frames(codes):
    code = "import inspect\nSTACK = []\n" + codes.subtraction.replace(
        "def moves(position): ", "def moves(position):\n    STACK[:] = inspect.stack()[:4]\n    "
    )
    plugin = codes.module_of(code)
    make_game(plugin).moves(5)
    frames = [(Path(frame.filename).name, frame.function) for frame in plugin.STACK[1:]]
    assert frames == [
        ("hooks.py", "call"),
        ("game.py", "moves"),
        (Path(__file__).name, "test_a_hook_call_has_three_frames"),
    ]


def test_wrong_texts_boards_and_tiers_are_rejected(codes):
    extra = "\n".join(
        f"@hookimpl\ndef {head}: return {body}"
        for head, body in {
            "decode(position)": "7",
            "encode(text)": "None",
            "board(position)": "'a board'",
            "tier(position)": "-1",
            "parents(position)": "[-5]",
            "notations(position)": "['x']",
            "format_move(position, move)": "b'x'",
        }.items()
    )
    game = make_game(codes.module_of(codes.subtraction + extra))
    for method in (game.decode, game.board, game.tier, game.parents, game.notations):
        with pytest.raises(PluginError, match="returned"):
            method(7)
    with pytest.raises(PluginError, match="hook 'encode' returned None on the text '7'"):
        game.encode("7")
    with pytest.raises(PluginError):
        game.format_move(7, 1)


def test_engine_rules_and_their_errors():
    game = zoo.make("subtraction", {"position - move": "position - move if position != 4 else {}[0]"}, name="stones")
    assert game.rules.apply(7, 1) == 6
    assert game.rules.tier is None
    with pytest.raises(KeyError) as caught:
        game.rules.apply(4, 1)
    error = game.hook_error("apply", 4, caught.value)
    assert str(error) == "stones: hook 'apply' raised KeyError: 0 in position 4"


def test_engine_rules_follow_all_moves_at_once(codes):
    for game in (load_game("gobblet"), load_game("kalah"), make_game(codes.module_of(codes.subtraction))):
        position = game.start()
        for _ in range(30):
            moves = game.moves(position)
            children = [game.apply(position, move) for move in moves]
            assert game.rules.follow(position, moves) == (children, [game.canonicalize(child) for child in children])
            position = children[len(children) // 2] if children else position


# ---- variants ----


def test_options_make_variants_that_never_share_an_identity(codes):
    plugin = codes.module_of(codes.variants)
    default = make_game(plugin, name="nim")
    assert default.identity == "nim-last=wins-quick-end=no-stones=7"
    assert make_game(plugin, name="nim", stones=7).identity == default.identity
    small = make_game(plugin, name="nim", stones="5", last="loses")
    assert small.identity == "nim-last=loses-quick-end=no-stones=5"
    assert small.start() == 5
    assert small.options == {"last": "loses", "quick-end": False, "stones": 5}
    assert make_game(plugin, name="nim", quick_end=True).options["quick-end"] is True


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stone": 5}, "nim has no option --stone: did you mean 'stones'?"),
        ({"zzz": 5}, "nim has no option --zzz; it has --stones, --last, --quick-end"),
        ({"stones": 31}, "--stones is a whole number from 1 to 30, not 31"),
        ({"stones": "x"}, "--stones is a whole number from 1 to 30, not 'x'"),
        ({"stones": True}, "--stones is a whole number"),
        ({"last": "lose"}, "--last is one of wins, loses, not 'lose': did you mean 'loses'?"),
        ({"quick-end": "maybe"}, "--quick-end is yes or no, not 'maybe'"),
    ],
)
def test_a_wrong_option_is_a_usage_error(codes, options, message):
    with pytest.raises(UsageError) as caught:
        make_game(codes.module_of(codes.variants), name="nim", **options)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"stones", 7', '"stones", 70', "the default of an option is not allowed"),
        ('Option("stones"', 'Option("no-stones"', "begins with 'no-'"),
        ('Option("stones"', 'Option("Big Stones"', "lower-case"),
        (', choices=("wins", "loses")', "", "give its `choices`"),
        ("return Variant(", "return (", "missing 'start'"),
        ("def options():\n    return [", "def options():\n    return 5 or [", "expected a list of Option"),
    ],
)
def test_wrong_declarations_are_rejected(old, new, message):
    with pytest.raises(PluginError, match=message):
        zoo.make("variants", {old: new})


# ---- a kernel alone is a whole game ----


@pytest.fixture
def kernel_plugin():
    """Subtraction as a pp_kernel whose functions are Python callbacks: no compiler needed."""
    from perfectplay_native._engine import ffi

    from perfectplay.game.spec import hookimpl
    from perfectplay_native.kernel import Kernel

    def write_moves(self, position, moves):
        legal = [taken for taken in (1, 2) if taken <= position]
        moves[0 : len(legal)] = legal
        return len(legal)

    def write_parents(self, position, parents):
        before = [position + taken for taken in (1, 2) if position + taken <= 7]
        parents[0 : len(before)] = before
        return len(before)

    functions = {
        "valid": lambda self, position: position <= 7,
        "start": lambda self: 7,
        "moves": write_moves,
        "apply": lambda self, position, move: position - move,
        "undo": lambda self, position, move: position + move,
        "canonicalize": lambda self, position: position,
        "status": lambda self, position: 0 if position else 1,
        "parents": write_parents,
    }
    struct = ffi.new("pp_kernel *", {"abi": 2, "rules_version": 5, "max_moves": 2, "max_parents": 2, "tier_count": 1})
    fields = dict(ffi.typeof("pp_kernel").fields)
    keep = {name: ffi.callback(fields[name].type, function) for name, function in functions.items()}
    for name, callback in keep.items():
        setattr(struct, name, callback)

    class Plugin:
        alive = (struct, keep)

        @hookimpl
        def kernel(self):
            return Kernel(ffi, struct)

    return Plugin()


def test_a_kernel_alone_is_a_whole_game(kernel_plugin, subtraction):
    game = make_game(kernel_plugin, name="stones")
    assert (game.kind, game.rules_version) == ("C kernel", 5)
    assert game.start() == 7
    for position in range(8):
        assert game.moves(position) == subtraction.moves(position)
        assert game.status(position) is subtraction.status(position)
        for move in game.moves(position):
            assert game.apply(position, move) == subtraction.apply(position, move)
        assert game.undo_moves(position) == [(move, position) for move in game.moves(position)]
    assert game.has_parents
    assert not game.has_tier
    assert game.parents(5) == [6, 7]
    assert not game.valid(8)
    with pytest.raises(UsageError):
        game.moves(8)


def test_a_hook_takes_precedence_over_the_kernel(kernel_plugin):
    from perfectplay.game.spec import hookimpl

    type(kernel_plugin).start = hookimpl(lambda self: 4)
    assert make_game(kernel_plugin).start() == 4


def test_a_kernel_without_a_required_function_is_rejected(kernel_plugin):
    from perfectplay_native._engine import ffi

    kernel_plugin.alive[0].apply = ffi.NULL
    with pytest.raises(PluginError, match="the required apply is NULL"):
        make_game(kernel_plugin)


# ---- turns, puzzles, scores ----


def test_a_game_has_a_mover_and_a_score():
    game = zoo.make("turns")
    start = game.start()
    assert (game.players, game.is_puzzle, game.about.title) == (("Ann", "Bob"), False, "Two again")
    assert (game.has_mover, game.has_score, game.has_undo) == (True, True, False)
    twice, once = game.apply(start, 2), game.apply(start, 1)
    assert (game.mover(twice), game.mover(once)) == (0, 1)
    assert game.keeps_turn(start, twice)
    assert not game.keeps_turn(start, once)
    end = game.apply(game.apply(twice, 2), 1)
    assert (game.status(end), game.score(end)) == (Status.LOST, -5)
    assert game.canonicalize(end) == end
    with pytest.raises(PluginError, match="no hook 'undo'; check `has_undo` first"):
        game.undo_moves(end)


@pytest.mark.parametrize(
    ("old", "new", "method", "message"),
    [
        ("return position & 1\n\n", "return 2\n\n", "mover", r"0 \(first player\) or 1 \(second player\)"),
        ("return parts(position)[1] *", "return 1e6 *", "score", "expected an int"),
        ("return parts(position)[1] *", "return 99999 *", "score", "a score is between -32,767 and 32,767"),
        ("Status.DRAWN\n", "Status.DRAWN if won else 0\n", "status", "returned 0 .* expected a Status"),
    ],
)
def test_wrong_movers_scores_and_statuses_are_rejected(old, new, method, message):
    with pytest.raises(PluginError, match=message):
        getattr(zoo.make("turns", {old: new}), method)(8 << 1)


@pytest.mark.parametrize("names", ["[]", "['A', 'B', 'C']", "['A', 'A']", "['']", "'AB'", "[1, 2]"])
def test_there_are_two_players_or_one(names):
    with pytest.raises(PluginError, match="hook 'players' returned"):
        zoo.make("turns", {'["Ann", "Bob"]': names})


def test_one_name_makes_a_puzzle(codes):
    game = make_game(codes.module_of(codes.subtraction + "\n@hookimpl\ndef players(): return ['Solver']\n"))
    assert game.is_puzzle
    assert game.mover(5) == 0
    assert game.keeps_turn(5, 4)


def test_without_the_hook_the_mover_comes_from_the_board(subtraction, tic_tac_toe):
    assert (subtraction.mover(5), subtraction.mover(7)) == (None, 0)  # 7 is the start
    assert (subtraction.players, subtraction.about.title) == (("First", "Second"), "subtraction")
    assert (tic_tac_toe.mover(0), tic_tac_toe.mover(1)) == (0, 1)
    assert not tic_tac_toe.keeps_turn(0, 1)


@pytest.mark.parametrize("answer", ["True", "False", "1", "None"])
def test_a_status_must_be_a_status(answer):
    with pytest.raises(PluginError, match=r"hook 'status' returned .*: expected a Status"):
        zoo.make("subtraction", {"return Status.ONGOING if position else Status.LOST": f"return {answer}"})


def test_numpy_integers_are_integers():
    game = zoo.make("subtraction", {"return position - move": "import numpy; return numpy.uint64(position - move)"})
    after = game.apply(7, 2)
    assert (after, type(after)) == (5, int)


def test_title_rules_and_names_may_come_from_one_hook(codes):
    about = "from perfectplay import About\n@hookimpl\ndef about(): return About('Stones', 'Take.', {})"

    def game(names: str):
        return make_game(codes.module_of(codes.subtraction + "\n" + about.format(names)), name="stones")

    assert game("('Ann', 'Ben')").players == ("Ann", "Ben")
    assert game("('Ann',)").is_puzzle
    assert game("()").players == ("First", "Second")
    with pytest.raises(PluginError, match=r"hook 'about' .*expected two different names"):
        game("('Ann', 'Ann')")


@pytest.mark.parametrize("depth", [400, 3_000])
def test_a_deeply_nested_option_is_refused(depth):
    name = "misere(game=" * depth + "tic_tac_toe()" + ")" * depth
    with pytest.raises(UsageError, match="--game cannot be read"):
        load_game("openspiel", game=name)
