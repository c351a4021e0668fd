"""`solve games`: list the installed games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfectplay.cli._common import directory_option, json_option, print_json
from perfectplay.cli._terminal import hanging
from perfectplay.game.options import as_words, chosen

if TYPE_CHECKING:
    from perfectplay.game.loading import GameInfo

Tables = list[dict[str, Any]]


@click.command("games")
@directory_option
@json_option
def command(directory: Path | None, as_json: bool) -> None:
    """List the installed games: name, version, rules in C or Python, options, and solved tables."""
    from perfectplay.game.loading import installed_games

    games = [replace(game, kind=_describe_rules(game)) for game in installed_games()]
    tables = _tables_by_game(directory)
    if as_json:
        print_json([_as_json(game, tables.get(game.name, [])) for game in games])
    elif games:
        _print_list(games, tables)
    else:
        click.echo("No games are installed. A game is a package with an entry point in the group perfectplay.games.")


def _describe_rules(info: GameInfo) -> str:
    """Return the kind of a game's rules, and whether they are compiled."""
    if info.kind != "Python":
        return info.kind
    from perfectplay.compile.kernel import expect_obstacle, may_compile
    from perfectplay.game.loading import load_game

    game = load_game(info.name)
    return f"{info.kind}, compiled" if may_compile(game) and expect_obstacle(game) is None else info.kind


def _as_json(game: GameInfo, tables: Tables) -> dict[str, Any]:
    return {
        "name": game.name,
        "title": game.title or None,
        "version": game.version,
        "kind": game.kind or None,
        "options": [
            {"name": each.name, "default": each.default, "allowed": each.range, "help": each.help}
            for each in game.options
        ],
        "tables": tables,
        "broken": game.broken,
        "needs": game.needs,
    }


def _print_list(games: Sequence[GameInfo], tables: Mapping[str, Tables]) -> None:
    rows = [("GAME", "TITLE", "VERSION", "RULES", "TABLE")]
    for game in games:
        state = _state(game, tables.get(game.name, []))
        title = game.title if game.title != game.name else ""
        kind = "broken" if game.broken else "incomplete" if game.needs else game.kind
        rows.append((game.name, title, game.version, kind, state))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    options = [[], *([as_words({each.name: each.default}) for each in game.options] for game in games)]
    for row, words in zip(rows, options, strict=True):
        click.echo("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
        if words:
            click.echo(hanging(f"{'':{widths[0]}}  options: ", map(" ".join, words)))
    notes = [f"{game.name} is broken: {game.broken}" for game in games if game.broken]
    notes += [f"{game.name}: {game.needs}" for game in games if game.needs]
    if notes:
        click.echo("\n" + "\n".join(notes))


def _tables_by_game(directory: Path | None) -> dict[str, Tables]:
    """Return the readable tables of each game. `solve tables` reports the others."""
    from perfectplay.table.locations import find_tables

    tables: dict[str, Tables] = {}
    for info in (found.info for found in find_tables(directory) if found.info is not None and not found.replaces):
        table = {"options": info.options, "status": info.status, "compact": info.compact}
        tables.setdefault(info.game, []).append(table)
    return tables


def _state(game: GameInfo, tables: Tables) -> str:
    """Describe which variants of a game are solved. `solve tables` lists them if there are several."""
    if not tables:
        return "not solved"
    if len(tables) > 1:
        solved = sum(table["status"] == "complete" for table in tables)
        return f"{len(tables)} variants, {'all' if solved == len(tables) else solved} solved"
    status = "solved" if tables[0]["status"] == "complete" else "unfinished"
    options = " ".join(as_words(chosen(game.options, tables[0]["options"])))
    return f"{status} ({options})" if options else status
