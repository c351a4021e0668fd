"""For those who train and test agents: perfect players, and how good another player is, measured against the truth."""

from perfectplay.agents.evaluation import Depth, Evaluation, Policy, evaluate_policy
from perfectplay.agents.player import TablePlayer

__all__ = ["Depth", "Evaluation", "Policy", "TablePlayer", "evaluate_policy"]
