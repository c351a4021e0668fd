"""Tic-tac-toe for perfectplay: the first game of the tutorial, in Python, with symmetry."""
