"""What went wrong in the engine, in words: a pp_result (api.h) as an exception."""

from __future__ import annotations

import os

from perfectplay_native._engine import lib


class EngineError(Exception):
    """The engine could not go on; the message says why."""


class EngineStopped(EngineError):
    """Someone asked the engine to stop."""


class EngineOutOfMemory(EngineError, MemoryError):
    """The memory budget, or the machine, has no room for what is needed next."""


class RulesError(EngineError):
    """The game's rules are not what solving relies on."""


def error_of(result: int, *, position: int, number: int) -> EngineError:
    """The error for a result other than PP_OK, with the position and the errno that the engine noted."""
    if result == lib.PP_STOPPED:
        return EngineStopped("stopped")
    if result == lib.PP_OUT_OF_MEMORY:
        return EngineOutOfMemory("the memory budget has no room for this tier")
    if result == lib.PP_SCRATCH_FAILED:
        return EngineError(f"cannot make a scratch file: {os.strerror(number)}")
    if result == lib.PP_TOO_REMOTE:
        return EngineError(
            f"some position is more than {lib.PP_LARGEST_REMOTENESS} plies from its end: a table cannot store that"
        )
    if result == lib.PP_TOO_MANY:
        return EngineError(
            "there are too many undecided positions at once for a graph: choose another propagation or more workers"
        )
    if result == lib.PP_BAD_BATCH:
        return EngineError("another worker speaks of a position that is not open here")
    return _rules_error(result, position)


def _rules_error(result: int, position: int) -> RulesError:
    if result == lib.PP_STUCK:
        return stuck(position)
    if result == lib.PP_OTHER_CHILDREN:
        return RulesError(f"asked again, position {position} has other moves: a game must say the same of it each time")
    if result == lib.PP_BAD_SCORE:
        return RulesError(
            f"the score of position {position} contradicts its status, or is beyond {lib.PP_MAX_SCORE}: it says by how "
            f"much the side to move has won, negative if it has lost, 0 for a draw"
        )
    return RulesError(
        f"a move from position {position} leads to a position that is in no tier: the rules contradict themselves"
    )


def stuck(position: int) -> RulesError:
    """The error for a game that leaves open what a player without moves is to do."""
    return RulesError(f"position {position} is ONGOING but has no move: `status` must say what being stuck means")
