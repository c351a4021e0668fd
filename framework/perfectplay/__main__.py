"""`python -m perfectplay` is `solve`."""

from perfectplay.cli import main

main()
