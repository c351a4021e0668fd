"""`solve new NAME`: the project of a new game."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("new")
@click.argument("name")
@click.option("--c", "with_kernel", is_flag=True, help="Add a kernel in C.")
def command(name: str, with_kernel: bool) -> None:
    """Write the project of a new game NAME into a directory of that name: a working little game to change."""
    from perfectplay.authoring.scaffold import write_project

    for path in write_project(name, Path(name), with_kernel=with_kernel):
        click.echo(f"wrote {path}")
    click.echo(f"\nInstall it with `pip install -e {name}`, then try `solve check {name}` and `solve {name}`.")
