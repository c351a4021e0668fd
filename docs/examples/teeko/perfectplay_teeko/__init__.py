"""The game Teeko for perfectplay."""
