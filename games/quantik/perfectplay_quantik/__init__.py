"""Quantik (4×4): a portable core, and a perfectplay plugin."""
