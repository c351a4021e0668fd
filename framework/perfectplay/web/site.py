"""The objects that all requests to one server share: its games, its visitors' games and its settings."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.types import Scope

if TYPE_CHECKING:
    from perfectplay.web.library import Library
    from perfectplay.web.matches import Sessions

_KEY = "perfectplay.site"
"""The key of the site in the scope of a request."""


@dataclass(frozen=True, slots=True)
class Site:
    """One server."""

    library: Library
    sessions: Sessions
    page: str
    """The HTML of the page, without the description of a game."""
    may_solve: bool
    """Whether games can be solved from the page."""
    open_to_others: bool
    """Whether other machines can connect."""
    process_slots: asyncio.Semaphore
    """Limits the number of processes that run the hooks of variants."""

    def add_to(self, scope: Scope) -> None:
        """Let `site_of` return this site for a request."""
        scope[_KEY] = self


def site_of(request: Request) -> Site:
    """Return the site that a request is for."""
    site: Site = request.scope[_KEY]
    return site
