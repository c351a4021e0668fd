"""Exceptions of the engine: each pp_result other than PP_OK (src/engine_api.h) becomes one of them."""

from __future__ import annotations

import os

from perfectplay_native._engine import lib


class EngineError(Exception):
    """The engine could not complete a call. The message gives the reason."""


class EngineStopped(EngineError):
    """The call was stopped by `stop`."""


class EngineOutOfMemory(EngineError, MemoryError):
    """The memory budget, or the machine, has no room for the next step."""


class RulesError(EngineError):
    """The game's rules contradict themselves."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class MissingChildError(RulesError):
    """A move from `position` leads to a position without a slot."""

    def __init__(self, position: int) -> None:
        super().__init__(
            f"a move from position {position} leads to a position in no tier, so the rules are inconsistent", position
        )


class AsymmetryError(RulesError):
    """The rules treat a position and its image under a declared symmetry differently."""

    def __init__(self, position: int, image: int) -> None:
        super().__init__(f"the rules treat position {position} and its image {image} differently", position)
        self.image = image


def error_of(result: int, *, position: int, number: int) -> EngineError:
    """Return the error for a result other than PP_OK, with the position and the errno that the engine recorded."""
    if result == lib.PP_STOPPED:
        return EngineStopped("stopped")
    if result == lib.PP_OUT_OF_MEMORY:
        return EngineOutOfMemory("the memory budget has no room for this tier")
    if result == lib.PP_SCRATCH_FAILED:
        return EngineError(f"cannot create a scratch file: {os.strerror(number)}")
    if result == lib.PP_TOO_REMOTE:
        return EngineError(
            f"a position is more than {lib.PP_LARGEST_REMOTENESS} plies from the end, which a table cannot store"
        )
    if result == lib.PP_TOO_MANY:
        return EngineError(
            "too many undecided positions for a reverse graph; use more workers, or define `parents` in the game"
        )
    if result == lib.PP_BAD_BATCH:
        return EngineError("a worker sent an update for a position that is already settled")
    error = _rules_error(result, position)
    error.position = position
    return error


def _rules_error(result: int, position: int) -> RulesError:
    if result == lib.PP_STUCK:
        return no_move_error(position)
    if result == lib.PP_OTHER_CHILDREN:
        return RulesError(
            f"position {position} had other moves in a second call; a game must always return the same moves", position
        )
    if result == lib.PP_BAD_SCORE:
        return RulesError(
            f"the score of position {position} contradicts its status or is beyond {lib.PP_MAX_SCORE}; a score is the "
            f"margin of the side to move, positive if it has won, negative if it has lost, 0 for a draw",
            position,
        )
    return MissingChildError(position)


def no_move_error(position: int) -> RulesError:
    """Return the error for an ongoing position in which the player to move has no move."""
    return RulesError(
        f"position {position} is ONGOING but has no move; `status` must return the result for a player without moves",
        position,
    )
