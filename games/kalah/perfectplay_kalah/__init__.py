"""Kalah, the sowing game, with few or many pits and seeds, a perfectplay plugin."""
