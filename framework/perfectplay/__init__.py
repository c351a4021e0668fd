"""perfectplay solves board games completely."""
