"""A game as the host sees it: its plugin, checked hooks, options, boards, matches and kernel."""
