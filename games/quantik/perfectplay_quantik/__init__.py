"""Quantik (4×4): a portable core, and a perfectplay plugin.

`State` is the game's state with its rules and formats; `arrays` does the same for many states at once.
"""

from perfectplay_quantik.checks import StateError
from perfectplay_quantik.state import CANONICAL, VERSION, State

__all__ = ["CANONICAL", "VERSION", "State", "StateError"]
