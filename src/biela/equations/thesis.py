"""The route of the thesis, kept faithfully: what our own operation counts are compared with.

Ordinary vectors, operations towards the leaves (*UP*), and for each solid, term by term,

    M = m v_jᵀ v_k + v_jᵀ (ω_k x mr) + (v_kᵀ (ω_j x mr)) + ω_jᵀ I ω_k,
    Q = v_jᵀ f + ω_jᵀ t - m v_jᵀ b(v) - v_jᵀ (b(ω) x mr) - v_jᵀ ω x (ω x mr)
        - ω_jᵀ (mr x b(v)) - ω_jᵀ I b(ω) - ω_jᵀ ω x (I ω),

gravity and wrenches with operations towards the root (*DOWN*).  Plaza 2015, eqs 4.54 and 4.62,
errata corrected; M positive here.
"""

from __future__ import annotations

from biela.atoms import Atom
from biela.equations.symbolic import SymbolicSystem
from biela.equations.virtual_power import Motion, bodies
from biela.space import Algebra, Toward, position

PLAIN_UP = Algebra(Toward.LEAF, extended=False)
PLAIN_DOWN = Algebra(Toward.ROOT, extended=False)


def mass_and_forces_thesis(system: SymbolicSystem) -> tuple[list[list[Atom]], list[Atom]]:
    """M and Q, solid after solid and term after term."""
    system.check_rigid("the way of the thesis")
    n = len(system.v)
    zero = system.workspace.atom(0)
    M = [[zero] * n for _ in range(n)]
    Q = [zero] * n
    with system.space.using(PLAIN_UP):
        for motion in bodies(system.space, system.solids, system.v).motions:
            _add_mass(motion, M)
            _add_inertia_forces(motion, Q)
            with system.space.using(PLAIN_DOWN):
                _add_wrenches(system, motion, Q)
    return system.with_rotor_inertia(M), system.with_rotor_forces(system.with_pushes(Q))


def _add_mass(motion: Motion, M: list[list[Atom]]) -> None:
    solid, v, omega = motion.solid, motion.v_by, motion.omega_by
    turned = [w.cross(solid.first_moment) for w in omega]
    spun = [solid.inertia @ w for w in omega]
    for j in range(len(M)):
        for k in range(j, len(M)):
            mixed = v[j].dot(turned[k]) + v[k].dot(turned[j])
            term = solid.mass * v[j].dot(v[k]) + mixed + omega[j].dot(spun[k])
            M[j][k] = M[k][j] = M[j][k] + term


def _add_inertia_forces(motion: Motion, Q: list[Atom]) -> None:
    solid, omega, mr = motion.solid, motion.omega, motion.solid.first_moment
    forces = [
        motion.v_bias * solid.mass,
        motion.omega_bias.cross(mr),
        omega.cross(omega.cross(mr)),
    ]
    moments = [
        mr.cross(motion.v_bias),
        solid.inertia @ motion.omega_bias,
        omega.cross(solid.inertia @ omega),
    ]
    for j in range(len(Q)):
        for force in forces:
            Q[j] = Q[j] - motion.v_by[j].dot(force)
        for moment in moments:
            Q[j] = Q[j] - motion.omega_by[j].dot(moment)


def _add_wrenches(system: SymbolicSystem, motion: Motion, Q: list[Atom]) -> None:
    solid = motion.solid
    pairs = [(system.gravity * solid.mass, solid.first_moment.cross(system.gravity))]
    for wrench in system.wrenches:
        if wrench.solid is solid:
            arm = position(solid.point, wrench.point)
            pairs.append((wrench.force, wrench.moment + arm.cross(wrench.force)))
    for j in range(len(Q)):
        for force, moment in pairs:
            Q[j] = Q[j] + motion.v_by[j].dot(force) + motion.omega_by[j].dot(moment)
