"""The published figures of large games, one module a game; large_games.py checks them."""
