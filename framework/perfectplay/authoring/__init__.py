"""Helpers for authors of games: they convert tuples, grids and symmetry groups to integers.

They are optional, and no other part of the host uses them.
"""

from perfectplay.authoring.geometry import Fields, Grid, Group, Symmetry, cyclic, dihedral, relabelings

__all__ = ["Fields", "Grid", "Group", "Symmetry", "cyclic", "dihedral", "relabelings"]
