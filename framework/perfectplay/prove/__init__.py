"""Proving the value of a single position by search."""
