"""The generalised-α method for constrained mechanical systems of index three, on a Lie group.

The system is given by kernels, with positions q (nq), velocities v (nv), multipliers λ (nl):

    residual   r = M v̇ - Q + Φ_vᵀ λ  and  Φ            1, nq, nv, nv, nl, m -> nv + nl
    tangent    the matrix below, of three numbers c    1, nq, nv, nv, nl, m, 3 -> (nv + nl)²
    retract    q ⊕ δ, the exponential map              nq, nv, m -> nq

    ( r_v̇ c_0 + r_v c_1 + r_δ c_2    Φ_vᵀ )     by rows; only the lower triangle is read, so that
    (             Φ_v                 W   )     the first block counts as symmetric: quasi-Newton

W is no part of the equations, whose block there is 0: its diagonal is 1 for a constraint on a
coordinate without inertia and 0 for others; see `augment`.

A step of length h with the algorithmic accelerations a solves for v̇₁ and λ₁

    r(t₁, q₁, v₁, v̇₁, λ₁) = 0,   Φ(t₁, q₁) = 0
    q₁ = q₀ ⊕ δ,   δ = h v₀ + h² ((½ - β) a₀ + β a₁),   v₁ = v₀ + h ((1 - γ) a₀ + γ a₁)
    (1 - α_m) a₁ + α_m a₀ = (1 - α_f) v̇₁ + α_f v̇₀

by a quasi-Newton iteration for the displacement δ. The dynamic rows are multiplied by h² and the
unknown multiplier is h² λ, so that the matrix does not degrade as h goes to zero (Bottasso et al.);
it is symmetric, multipliers last, and a redundant constraint is dropped. A coordinate without
inertia leaves no pivot before its multiplier: `augment` gives it one. The spectral radius ρ at
infinite frequency sets the numerical damping: 1 is none, 0 the most.

    α_m = (2ρ - 1)/(ρ + 1),   α_f = ρ/(ρ + 1),   γ = ½ + α_f - α_m,   β = ¼ (γ + ½)²

The method is of order two in q, v and λ. It starts from consistent v̇₀ and λ₀, and a₀ = v̇₀. In the
first steps λ has an error of order one, which dies out as ρ to the number of steps (Arnold, Brüls
& Cardona 2015, Error analysis of generalized-α Lie group time integration methods for constrained
mechanical systems, Numerische Mathematik 129): a small ρ forgets it soon.

Arnold & Brüls 2007, Convergence of the generalized-α scheme for constrained mechanical systems,
Multibody System Dynamics 18; Brüls & Cardona 2010, On the use of Lie group time integrators in
multibody dynamics, J. Comp. Nonlinear Dynamics 5; Bottasso, Dopico & Trainelli 2008, On the optimal
scaling of index three DAEs in multibody dynamics, Multibody System Dynamics 19.
"""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.integrators.corrections import finite
from biela.solvers.integrators.status import FINISHED, NOT_CONVERGING, NOT_FINITE
from biela.solvers.ldlt import DROP_TOLERANCE, ldlt_factor, ldlt_solve

__all__ = ["augment", "generalized_alpha", "generalized_alpha_step"]

# places in `counts`
STEPS = 0
ITERATIONS = 1
SAMPLES = 2


@routine(r="nv + nl", S="nv + nl, nv + nl")
def augment(nv: Int, nl: Int, r: Vector, S: Matrix) -> None:
    """Add Φ_vᵀ W Φ_v to the first block of a saddle-point matrix, which leaves its solution as is.

        ( A + Φᵀ W Φ   Φᵀ ) ( x )   ( a + Φᵀ W b )
        (     Φ        0  ) ( y ) = (     b      )

    The first block becomes positive definite where A is so for all x ≠ 0 with Φ x = 0, though it
    may have no pivot for a coordinate without inertia. The weights come on the diagonal of the last
    block, which is set to 0, relative to the largest diagonal entry of A among the columns of the
    constraint, or of all if it has none there. Only the lower triangle of S is read and written.

    Benzi, Golub & Liesen 2005, Numerical solution of saddle point problems, Acta Numerica 14, §3.5.
    """
    largest = 0.0
    for i in range(nv):
        largest = max(largest, abs(S[i, i]))
    for k in range(nl):
        weight = S[nv + k, nv + k]
        S[nv + k, nv + k] = 0.0
        if weight > 0.0:
            size = 0.0
            scale = 0.0
            for i in range(nv):
                entry = S[nv + k, i]
                size += entry * entry
                if entry != 0.0:
                    scale = max(scale, abs(S[i, i]))
            if scale <= 1e-12 * largest:
                scale = largest
            if size > 0.0:
                w = weight * scale / size
                for i in range(nv):
                    along = w * S[nv + k, i]
                    r[i] += along * r[nv + k]
                    for j in range(i + 1):
                        S[i, j] += along * S[nv + k, j]


@routine(
    t="1",
    q="nq",
    v="nv",
    vdot="nv",
    a="nv",
    lam="nl",
    p="m",
    residual="1, nq, nv, nv, nl, m -> nv + nl",
    tangent="1, nq, nv, nv, nl, m, 3 -> (nv + nl)*(nv + nl)",
    retract="nq, nv, m -> nq",
    q0="nq",
    work="3, nv",
    r="nv + nl",
    S="nv + nl, nv + nl",
    factors="3",
    counts="3",
)
def generalized_alpha_step(
    nq: Int,
    nv: Int,
    nl: Int,
    m: Int,
    h: Real,
    rho: Real,
    iterations: Int,
    tolerance: Real,
    t: Vector,
    q: Vector,
    v: Vector,
    vdot: Vector,
    a: Vector,
    lam: Vector,
    p: Vector,
    residual: Kernel,
    tangent: Kernel,
    retract: Kernel,
    q0: Vector,
    work: Matrix,
    r: Vector,
    S: Matrix,
    factors: Vector,
    counts: IntVector,
) -> Int:
    """Take one step of length h in place; t advances too. Return a status.

    There are `iterations` iterations; fewer if the last change of the displacement is within the
    tolerance, which is never so for the tolerance 0. With a tolerance that is not met, the status
    is NOT_CONVERGING.
    """
    alpha_m = (2.0 * rho - 1.0) / (rho + 1.0)
    alpha_f = rho / (rho + 1.0)
    gamma = 0.5 + alpha_f - alpha_m
    beta = 0.25 * (gamma + 0.5) ** 2
    t[0] += h

    # predict with the acceleration of the start; rows of work: δ, a of the start, v̇ of the start
    for i in range(nq):
        q0[i] = q[i]
    for i in range(nv):
        work[1, i] = a[i]
        work[2, i] = vdot[i]
        a[i] = (vdot[i] - alpha_m * a[i]) / (1.0 - alpha_m)
        work[0, i] = h * v[i] + h * h * ((0.5 - beta) * work[1, i] + beta * a[i])
        v[i] += h * ((1.0 - gamma) * work[1, i] + gamma * a[i])

    # v̇ and v follow the displacement
    to_vdot = (1.0 - alpha_m) / ((1.0 - alpha_f) * beta * h * h)
    to_v = gamma / (beta * h)
    factors[0] = h * h * to_vdot
    factors[1] = h * h * to_v
    factors[2] = h * h
    change = 0.0
    for _k in range(iterations):
        retract(q0, work[0], p, q)
        residual(t, q, v, vdot, lam, p, r)
        tangent(t, q, v, vdot, lam, p, factors, S)
        for i in range(nv):
            r[i] *= h * h
        augment(nv, nl, r, S)
        rank = ldlt_factor(nv + nl, S, DROP_TOLERANCE)
        ldlt_solve(nv + nl, S, r)
        counts[ITERATIONS] += 1
        change = 0.0 if rank > 0 else 1.0
        for i in range(nv):
            work[0, i] -= r[i]
            v[i] -= to_v * r[i]
            vdot[i] -= to_vdot * r[i]
            # written so that a nan is kept
            change = change if abs(r[i]) <= change else abs(r[i])
        for i in range(nl):
            lam[i] -= r[nv + i] / (h * h)
        if change <= tolerance and tolerance > 0.0:
            break
    retract(q0, work[0], p, q)
    for i in range(nv):
        a[i] = (1.0 - alpha_f) * vdot[i] + alpha_f * work[2, i] - alpha_m * work[1, i]
        a[i] /= 1.0 - alpha_m
    good = finite(nv, v)
    good = min(good, finite(nq, q))
    good = min(good, finite(nl, lam))
    if good == 0:
        return NOT_FINITE
    return NOT_CONVERGING if tolerance > 0.0 and change > tolerance else FINISHED


@routine(
    t="1",
    q="nq",
    v="nv",
    vdot="nv",
    a="nv",
    lam="nl",
    p="m",
    residual="1, nq, nv, nv, nl, m -> nv + nl",
    tangent="1, nq, nv, nv, nl, m, 3 -> (nv + nl)*(nv + nl)",
    retract="nq, nv, m -> nq",
    q0="nq",
    work="3, nv",
    r="nv + nl",
    S="nv + nl, nv + nl",
    factors="3",
    q_rows="samples + 1, nq",
    v_rows="samples + 1, nv",
    vdot_rows="samples + 1, nv",
    lam_rows="samples + 1, nl",
    counts="3",
)
def generalized_alpha(
    nq: Int,
    nv: Int,
    nl: Int,
    m: Int,
    samples: Int,
    stride: Int,
    h: Real,
    rho: Real,
    iterations: Int,
    tolerance: Real,
    t: Vector,
    q: Vector,
    v: Vector,
    vdot: Vector,
    a: Vector,
    lam: Vector,
    p: Vector,
    residual: Kernel,
    tangent: Kernel,
    retract: Kernel,
    q0: Vector,
    work: Matrix,
    r: Vector,
    S: Matrix,
    factors: Vector,
    q_rows: Matrix,
    v_rows: Matrix,
    vdot_rows: Matrix,
    lam_rows: Matrix,
    counts: IntVector,
) -> Int:
    """Take samples × stride steps; row k of each `…_rows` holds the values after k strides.

    Returns FINISHED, or the status of the step at which it stopped; the number of the last row
    written is the last of `counts`, after the steps and the iterations.
    """
    start = t[0]
    counts[SAMPLES] = 0
    for k in range(samples * stride + 1):
        if k % stride == 0:
            row = k // stride
            counts[SAMPLES] = row
            for i in range(nq):
                q_rows[row, i] = q[i]
            for i in range(nv):
                v_rows[row, i] = v[i]
                vdot_rows[row, i] = vdot[i]
            for i in range(nl):
                lam_rows[row, i] = lam[i]
        if k < samples * stride:
            status = generalized_alpha_step(
                nq, nv, nl, m, h, rho, iterations, tolerance, t, q, v, vdot, a, lam, p, residual,
                tangent, retract, q0, work, r, S, factors, counts,
            )  # fmt: skip
            if status != FINISHED:
                return status
            counts[STEPS] += 1
            t[0] = start + (k + 1) * h
    return FINISHED
