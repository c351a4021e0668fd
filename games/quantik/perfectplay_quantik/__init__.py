"""Quantik (4×4): a portable library and a perfectplay plugin.

`State` is a state of the game with its rules and formats; `arrays` has the same functions for many states at once.
"""

from perfectplay_quantik.rules import StateError
from perfectplay_quantik.state import CANONICAL, VERSION, State

__all__ = ["CANONICAL", "VERSION", "State", "StateError"]
