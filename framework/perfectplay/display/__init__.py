"""Drawings of boards and histograms."""
