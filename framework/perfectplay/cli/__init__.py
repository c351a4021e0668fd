"""The command line, `solve`: one file for each command, imported when it is called."""

from perfectplay.cli._app import main, root

__all__ = ["main", "root"]
