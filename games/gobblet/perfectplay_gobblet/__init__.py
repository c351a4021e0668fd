"""Gobblet Gobblers (3×3), a perfectplay plugin."""
