"""Connect Four on boards of many sizes, a perfectplay plugin."""
