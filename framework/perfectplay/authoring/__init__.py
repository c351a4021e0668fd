"""Helpers for authors of games: they convert tuples, grids and symmetry groups to integers.

They are optional, and no other part of the host uses them. `Index` declares an index from them.
"""

from perfectplay.authoring.geometry import Fields, Grid, Group, Symmetry, cyclic, dihedral, relabelings
from perfectplay.game.index import Index

__all__ = ["Fields", "Grid", "Group", "Index", "Symmetry", "cyclic", "dihedral", "relabelings"]
