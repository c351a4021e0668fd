"""The two kernels, as Python sees them."""

from __future__ import annotations

from perfectplay_dobutsu._kernel import ffi, lib
from perfectplay_native.kernel import Kernel

UNFINISHED, LION_CAN_BE_TAKEN, FINISHED = range(3)
"""The tiers."""

RANKED = Kernel(ffi, lib.dobutsu_kernel)
"""The game as it is solved: with a perfect index."""

ENUMERATED = Kernel(ffi, lib.dobutsu_enumerated_kernel)
"""The same game without one, to measure the engine by: every position that play reaches has a slot of its own."""
