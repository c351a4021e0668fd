"""Solving a game, proving one position, and verifying what was solved. The work itself is the engine's, in C."""
