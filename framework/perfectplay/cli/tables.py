"""`solve tables`: list and remove tables."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfectplay.cli._common import directory_option, iso_date, json_option, print_json
from perfectplay.cli._terminal import terminal_width
from perfectplay.errors import UsageError, did_you_mean
from perfectplay.game import wording

if TYPE_CHECKING:
    from perfectplay.table.locations import FoundTable


def _complete_table(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a table in the shell."""
    from perfectplay.table.locations import find_tables

    names = (table.path.name for table in find_tables(ctx.params.get("directory")))
    return [name for name in names if name.startswith(incomplete)]


@click.command("tables")
@click.option(
    "--remove",
    "unwanted",
    metavar="TABLE",
    multiple=True,
    shell_complete=_complete_table,
    help="Delete this table; may be repeated.",
)
@directory_option
@json_option
def command(unwanted: tuple[str, ...], directory: Path | None, as_json: bool) -> None:
    """List the tables on disk with size, status and age. With --remove, delete some of them.

    A table is named after its game and options, as shown in the list.
    """
    from perfectplay.table.locations import find_tables, table_directory

    place = directory or table_directory()
    if unwanted:
        _remove(unwanted, find_tables(directory), place)
        return
    tables = find_tables(directory)
    if as_json:
        print_json([_json(table) for table in tables])
    elif not tables:
        click.echo(f"There are no tables in {place}.")
    else:
        _print(tables, place)


def _remove(unwanted: tuple[str, ...], tables: list[FoundTable], place: Path) -> None:
    from perfectplay.table.lmdb_store import remove_table

    by_name = {table.path.name: table for table in tables}
    for name in unwanted:  # find all of them before the first is removed
        if name not in by_name:
            raise UsageError(f"there is no table '{name}' in {place}{did_you_mean(name, by_name)}")
    for name in dict.fromkeys(unwanted):
        remove_table(by_name[name].path)
        click.echo(f"removed {name} ({wording.size(by_name[name].size_on_disk)})")


def _print(tables: list[FoundTable], place: Path) -> None:
    rows = [("TABLE", "SIZE", "STATUS", "CHANGED")]
    rows += [(table.path.name, wording.size(table.size_on_disk), _status(table), _age(table)) for table in tables]
    names, *widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    room = min(names, max(20, terminal_width() - sum(widths) - 2 * len(widths)))
    for name, size, status, age in rows:
        if len(name) > room:  # put the name on a separate line
            click.echo(name)
            name = ""
        click.echo(f"{name:<{room}}  {size:>{widths[0]}}  {status:<{widths[1]}}  {age}".rstrip())
    total = sum(table.size_on_disk for table in tables)
    click.echo(f"\n{wording.counted(len(tables), 'table')}, {wording.size(total)}, in {place}")
    for table in tables:
        if table.problem:
            click.echo(f"{table.path.name} cannot be read: {table.problem}")


def _status(table: FoundTable) -> str:
    if table.info is None:
        return "unreadable"
    if table.info.status != "complete":
        return "unfinished, outcomes" if table.info.outcomes else "unfinished"
    return "solved" + (", compact" if table.info.compact else "") + (", outcomes" if table.info.outcomes else "")


def _age(table: FoundTable) -> str:
    return f"{wording.age(time.time() - table.changed)} ago" if table.changed else ""


def _json(table: FoundTable) -> dict[str, Any]:
    info = table.info
    return {
        "table": table.path.name,
        "path": str(table.path),
        "game": None if info is None else info.game,
        "options": None if info is None else info.options,
        "status": None if info is None else info.status,
        "compact": None if info is None else info.compact,
        "values": None if info is None else info.values,
        "bytes": table.size_on_disk,
        "changed": iso_date(table.changed) if table.changed else None,
        "problem": table.problem,
    }
