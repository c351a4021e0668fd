"""The names of the built-in commands: the command line imports them to run, `game.plugins` to reserve their names.

This module imports nothing, so that `solve --help` stays fast.
"""

COMMANDS = {
    "games": "List the installed games.",
    "plan": "Estimate the time, memory and disk space of a solve, and recommend a command.",
    "prove": "Prove who wins one position by search, without solving the game.",
    "serve": "Explore solved games in a browser, and play against perfect play.",
    "show": "Show a position: the board, who wins, and the value of each move.",
    "line": "Show best play from a position to the end.",
    "play": "Play against the table.",
    "stats": "Show counts of a table: by tier, outcome and remoteness.",
    "random": "Show random positions with their values.",
    "export": "Write a table in another format.",
    "compare": "Compare a file of outcomes with a table.",
    "talk": "Answer queries about positions, one line of JSON each.",
    "tables": "List or remove the tables on disk.",
    "verify": "Prove every value of a table from the rules.",
    "compact": "Compress a finished table.",
    "bench": "Measure the speed of a game, the engine and tables on this machine.",
    "compile": "Show how a game's Python rules are translated to C, and how fast they are.",
    "rules": "Show a game's title, players, rules and options.",
    "new": "Create the project of a new game.",
    "check": "Check a game's rules for mistakes.",
}
"""Built-in commands with their help lines. `perfectplay.cli.NAME.command` implements NAME."""
