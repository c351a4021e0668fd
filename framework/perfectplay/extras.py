"""Packages that only some commands need are extras: `pip install 'perfectplay[web]'`. What is missing is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from perfectplay.errors import PerfectPlayError


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Around imports: if a package is missing, say what needs it and how to install it.

    >>> with needs_extra("web", "`solve serve`"):
    ...     import a_package_that_is_missing
    Traceback (most recent call last):
    ...
    perfectplay.errors.PerfectPlayError: `solve serve` needs a_package_that_is_missing: pip install 'perfectplay[web]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if not package or package.startswith("perfectplay"):
            raise
        raise PerfectPlayError(f"{what} needs {package}: pip install 'perfectplay[{extra}]'") from None
