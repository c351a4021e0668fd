"""For training and testing agents: perfect players, and the evaluation of other players against a table."""

from perfectplay.agents.player import Depth, Evaluation, PettingZooOpponent, Policy, TablePlayer, evaluate_policy

__all__ = ["Depth", "Evaluation", "PettingZooOpponent", "Policy", "TablePlayer", "evaluate_policy"]
