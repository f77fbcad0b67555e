"""Structural groups: a mechanism split into small sets of bodies that are solved in order.

`biela.structural_groups` finds the `Structure` of a model.
"""

from __future__ import annotations

from biela.equations.groups.group import Group, PassiveSpin, Space
from biela.equations.groups.structure import Freedom, KindTable, Structure

__all__ = ["Freedom", "Group", "KindTable", "PassiveSpin", "Space", "Structure"]
