"""Closed-form positions of groups: dyads, rods and legs."""

from __future__ import annotations

from biela.equations.groups.closed_forms.branches import GroupBranches, branches_of
from biela.equations.groups.closed_forms.closed_form import ClosedForm, closed_form

__all__ = ["ClosedForm", "GroupBranches", "branches_of", "closed_form"]
