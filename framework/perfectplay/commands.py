"""The names of the built-in commands: the command line imports them to run, `game.plugins` to reserve their names.

This module imports nothing, so that `solve --help` stays fast.
"""

COMMANDS = {
    "games": "List the installed games.",
    "plan": "Estimate what a solve takes: time, memory and disk, and what fits this machine.",
    "serve": "Explore solved games in a browser, and play against perfect play.",
    "show": "Show a position: the board, who wins, and what each move is worth.",
    "line": "Show best play from a position to the end.",
    "play": "Play against the table.",
    "stats": "Show counts of a table: by tier, outcome and remoteness.",
    "random": "Show random positions with their values.",
    "export": "Write a table in another format.",
    "compare": "Compare a file of outcomes with a table.",
    "talk": "Answer questions about positions, a line of JSON each.",
    "tables": "List the tables on disk, or remove some.",
    "verify": "Prove a solved table right, position by position.",
    "compact": "Rewrite a finished table many times smaller, for keeping.",
    "bench": "Measure the speed of games, engine and tables on this machine.",
    "rules": "Show a game's title, players, rules and options.",
    "new": "Write a new game's project, ready to install.",
    "check": "Check a game's rules for mistakes.",
}
"""Built-in commands with their help lines. `perfectplay.cli.NAME.command` implements NAME."""
