"""What a solve may choose: the backend, and with it who solves (this process, or what the backend brings), and how."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from perfectplay import plugins
from perfectplay.errors import UsageError, did_you_mean
from perfectplay.solving.cluster import Cluster
from perfectplay.tables.backends import Backend
from perfectplay.tables.records import FULL, VALUES
from perfectplay_native.engine import Propagation

PROPAGATIONS = {propagation.name.lower(): propagation for propagation in Propagation}


def choose_backend(name: str) -> Backend:
    """The backend of this name; UsageError that says which there are."""
    for builtin_only in (True, False):
        registry = plugins.host_registry(builtin_only=builtin_only)
        if name in registry.backends:
            backend: Backend = registry.backends[name]
            return backend
    hint = did_you_mean(name, registry.backends)
    there_are = ", ".join(sorted(registry.backends))
    broken = "".join(f"; {plugin} is broken: {reason}" for plugin, reason in registry.broken.items())
    raise UsageError(f"unknown backend '{name}'{hint} (there are: {there_are}{broken})")


def require_known(*, values: str, propagation: str) -> None:
    """UsageError where there are no such values, or no such propagation."""
    if values not in VALUES:
        raise UsageError(f"there are no {values!r} values: choose one of {', '.join(VALUES)}")
    if propagation not in PROPAGATIONS:
        raise UsageError(f"there is no propagation {propagation!r}: choose one of {', '.join(PROPAGATIONS)}")


@runtime_checkable
class BringsSolver(Protocol):
    """What a backend has that does not solve with the engine of this process."""

    def solver(self, cluster: Cluster) -> Callable[..., Any]:
        """What takes the arguments of `Solve` and solves with this cluster."""


def choose_solver(
    chosen: Backend, name: str, cluster: Cluster | None, threads: int | None, propagation: str, values: str
) -> Callable[..., Any] | None:
    """What the backend brings, or None; UsageError for options that do not go with it."""
    if not isinstance(chosen, BringsSolver):
        if cluster is not None:
            raise UsageError(f"--workers, --address and --audit are for --backend ray; the {name} backend has threads")
        return None
    if threads is not None:
        raise UsageError(f"the {name} backend has workers, not threads: use --workers {threads}")
    if propagation != "auto":
        raise UsageError(f"the {name} backend chooses the propagation itself")
    if values != FULL:
        raise UsageError(
            f"the {name} backend keeps full values only: leave out --values {values}, or use --backend lmdb"
        )
    return chosen.solver(cluster or Cluster())
