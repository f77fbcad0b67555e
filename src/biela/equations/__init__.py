"""Formulations: from a model to the equations of a system.

One module a formulation, all giving the same `System` (mass matrix, forces, constraints, their
derivatives, outputs). Two formulations of one model must agree, and tests see to it.

May import `biela.model`, `biela.space`, `biela.atoms`, `biela.code` and `biela.graph`. Empty as
yet.
"""
