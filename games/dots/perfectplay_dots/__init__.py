"""Dots and boxes on boards of many sizes, a perfectplay plugin."""
