"""Translates rules in Python to C, so that the engine can call them without the interpreter."""
