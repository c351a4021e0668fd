"""Games with repeated turns, scores and puzzles, for tests."""
