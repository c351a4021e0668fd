"""The options of work on several machines: --workers, --address, --audit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from perfectplay.solving.cluster import Cluster


def _read_share(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """The share that 1% or 0.01 stands for."""
    if value is None:
        return None
    try:
        share = float(value.rstrip("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise click.BadParameter(f"{value!r} is not a share; write it as 1%", ctx, param)
    return share


audit_option = click.option(
    "--audit", callback=_read_share, metavar="SHARE", help="Derive this share of the blocks twice, such as 1%."
)


def worker_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --workers and --address, for `read_cluster` to make a cluster of."""
    for option in (
        click.option(
            "--address", metavar="ADDRESS", help="Address of a running Ray cluster: auto, HOST:PORT or ray://HOST:PORT."
        ),
        click.option(
            "--workers", type=click.IntRange(min=1), metavar="N", help="Workers to use (default: one per core)."
        ),
    ):
        command = option(command)
    return command


def read_cluster(workers: int | None, address: str | None, audit: float | None = None) -> Cluster | None:
    """What the options say; None where none was given."""
    from perfectplay.solving.cluster import Cluster

    if workers is None and address is None and audit is None:
        return None
    return Cluster(workers=workers, address=address, audit=audit or 0.0)
