"""Connect Four for perfectplay: an example of a game with options, tiers, and a kernel in C."""
