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
    click.echo("\nInstall it, and try it:\n")
    # Without isolation a kernel is built against the perfectplay that is installed, wherever that came from.
    install = ("pip install 'setuptools>=77'", f"pip install --no-build-isolation -e {name}")
    for line in (*install, f"solve check {name}", f"solve {name}"):
        click.echo(f"    {line}")
