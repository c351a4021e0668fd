"""Games of every kind, for the tests."""
