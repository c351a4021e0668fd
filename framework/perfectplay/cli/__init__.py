"""The command line, `solve`: one module per command, imported when the command runs."""

from perfectplay.cli._app import main, root

__all__ = ["main", "root"]
