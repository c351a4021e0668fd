"""Connect Four in plain Python, a perfectplay plugin."""
