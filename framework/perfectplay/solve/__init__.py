"""Solving every position of a game and verifying the result. The engine, in C, does the work."""
