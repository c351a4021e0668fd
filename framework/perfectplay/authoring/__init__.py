"""For authors of games: think in tuples, grids and symmetry groups, and let these make the integers.

Nothing here is needed to write a game, and no other part of the host uses it.
"""

from perfectplay.authoring.grids import Fields, Grid
from perfectplay.authoring.groups import Group, Symmetry, cyclic, dihedral, relabelings

__all__ = ["Fields", "Grid", "Group", "Symmetry", "cyclic", "dihedral", "relabelings"]
