"""The game under test, with what several laws want to know of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from perfectplay.errors import PerfectPlayError
from perfectplay.game import Game
from perfectplay.hook_guard import Guard
from perfectplay.solving.tier_order import components
from perfectplay.testing.guarded_kernel import GuardedKernel
from perfectplay.testing.watch import Watch
from perfectplay.values import Status


class GameUnderTest:
    """One game, asked by the laws."""

    def __init__(self, game: Game, watch: Watch | None = None) -> None:
        self.game = game
        self._watch = watch

    def tries(self, law: str, position: int | None = None) -> None:
        """Say what is tried now, to who watches."""
        if self._watch is not None:
            self._watch.tries(law, position)

    def ask(self, hook: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call what belongs to a hook but is not one of the game's methods, for who watches to hear of it."""
        return Guard(self.game.name).ask(hook, function, *arguments)

    def name(self, position: int) -> str:
        """A position as messages name it: people's notation where it works, and the number."""
        try:
            text = self.game.decode(position)
        except PerfectPlayError:
            text = str(position)
        return f"position {position}" if text == str(position) else f"position {text} ({position})"

    @cached_property
    def draws(self) -> bool:
        """Whether the game has boards."""
        return self.game.board(self.game.start()) is not None

    def mover_hook(self, position: int) -> int | None:
        """What the game itself says of whose turn it is; None where it has no hook for that."""
        return self.game.mover(position) if self.game.has_mover else None

    def is_over(self, position: int) -> bool:
        return self.game.status(position) is not Status.ONGOING

    def is_open(self, position: int) -> bool:
        """Whether neither the rules nor a win at once settle a position, so that the engine asks for its parents."""
        kernel = self.game.kernel
        if self.is_over(position):
            return False
        return kernel is None or not kernel.has("wins_now") or not kernel.wins_now(position)

    def can_win_at_once(self, position: int) -> bool:
        """Whether some move ends the game with a win for the player who makes it."""
        game = self.game
        for move in game.moves(position):
            child = game.apply(position, move)
            if game.status(child) is (Status.WON if game.keeps_turn(position, child) else Status.LOST):
                return True
        return False

    def children(self, position: int) -> set[int]:
        """The canonical children."""
        game = self.game
        return {game.canonicalize(game.apply(position, move)) for move in game.moves(position)}

    @cached_property
    def guarded(self) -> GuardedKernel:
        assert self.game.kernel is not None
        return GuardedKernel(self.game.kernel, self.game.name)

    def sisters(self, tier: int) -> set[int]:
        """The tiers that are solved together with this one: play can go there and come back (itself included)."""
        return self._sister_tiers.get(tier, {tier})

    @cached_property
    def _sister_tiers(self) -> dict[int, set[int]]:
        kernel = self.game.kernel
        if kernel is None or not kernel.has("tier_children"):
            return {}  # numbers never fall, so play comes back to the same tier only
        found = components({tier: kernel.tier_children(tier) or [] for tier in range(kernel.tier_count)})
        return {tier: set(component.tiers) for component in found for tier in component.tiers}
