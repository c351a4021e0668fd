"""For those who train and test agents: perfect players, and how good another player is, measured against the truth."""

from perfectplay.agents.player import Depth, Evaluation, Policy, TablePlayer, evaluate_policy

__all__ = ["Depth", "Evaluation", "Policy", "TablePlayer", "evaluate_policy"]
