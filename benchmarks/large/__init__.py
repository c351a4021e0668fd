"""The published figures of large games, one module per game, checked by large_games.py."""
