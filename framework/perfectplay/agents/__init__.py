"""For those who train and test agents: perfect players, and how good another player is, measured against the truth."""
