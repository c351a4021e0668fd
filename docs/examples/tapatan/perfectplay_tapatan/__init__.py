"""The game tapatan for perfectplay."""
