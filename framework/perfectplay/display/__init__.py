"""Boards and histograms, drawn for people."""
