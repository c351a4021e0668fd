"""Quixo on boards from 2×2 to 5×5, a perfectplay plugin."""
