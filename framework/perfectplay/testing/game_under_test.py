"""The game under test, with what several laws want to know of it."""

from __future__ import annotations

from functools import cached_property

from perfectplay.errors import PerfectPlayError
from perfectplay.game import Game
from perfectplay.solving.tier_order import components
from perfectplay.testing.guarded_kernel import GuardedKernel
from perfectplay.values import Status


class GameUnderTest:
    """One game, asked by the laws."""

    def __init__(self, game: Game) -> None:
        self.game = game

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
        """Whether neither the rules nor a win at once settle a position of a game with a kernel."""
        kernel = self.game.kernel
        assert kernel is not None
        return not self.is_over(position) and not (kernel.has("wins_now") and kernel.wins_now(position))

    def children(self, position: int) -> set[int]:
        """The canonical children."""
        game = self.game
        return {game.canonicalize(game.apply(position, move)) for move in game.moves(position)}

    @cached_property
    def guarded(self) -> GuardedKernel:
        assert self.game.kernel is not None
        return GuardedKernel(self.game.kernel, self.game.name)

    @cached_property
    def sister_tiers(self) -> dict[int, set[int]]:
        """For each tier of a kernel, those from which and to which play can go (itself included)."""
        kernel = self.game.kernel
        assert kernel is not None
        tiers = range(kernel.tier_count)
        graph = {tier: kernel.tier_children(tier) for tier in tiers}
        if any(children is None for children in graph.values()):
            return {tier: {tier} for tier in tiers}  # numbers never fall, so play comes back to the same tier only
        found = components({tier: children or [] for tier, children in graph.items()})
        return {tier: set(component.tiers) for component in found for tier in component.tiers}
