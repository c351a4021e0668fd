"""Dōbutsu shōgi, a perfectplay plugin."""
