"""Queries on a solved table: rated moves, lines, samples, statistics, comparisons and exports."""
