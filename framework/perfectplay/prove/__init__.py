"""Proving the value of a single position by search, without a table."""
