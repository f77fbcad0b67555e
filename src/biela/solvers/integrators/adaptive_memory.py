"""What an adaptive integrator remembers between calls: places in `store` and `counts`.

`store` holds reals and `counts` integers; a method has places of its own from OWN on. With these,
`memory` (rows of n) and the arrays of an implicit method, an integration can be left after any
output and gone on with later.

All times in `store` are counted from CLOCK, so that a step is as exact at t = 10⁹ s as at 0; only
the time given to kernels, in `t`, is the sum, and rounded.
"""

from __future__ import annotations

# places in `store`
RTOL = 0  # relative tolerance
H_MAX = 1  # longest step
FIRST = 2  # first step, or 0 to have it chosen
PERIOD = 3  # of the sampled controller
ORIGIN = 4  # time of its first sample, from CLOCK like all others
H = 5  # length proposed for the next step
BEGIN = 6  # time at the start of the last step
USED = 7  # length of the last step
OLD_ERROR = 8  # error of the last accepted step, as a share of the tolerance
H_MIN = 9  # length at which a step that still fails is given up
NOW = 10  # time reached, counted from the time CLOCK
CLOCK = 11  # what is added to times for the kernels: they are given CLOCK + NOW
STORE_OWN = 12
STORE = 64

# places in `counts`
STEPS = 0  # accepted
FAILED = 1  # steps rejected
EVALUATIONS = 2  # calls of f, those for a Jacobian included
CORRECTIONS = 3  # projections taken
ITERATIONS = 4  # of Newton's method
FACTORISATIONS = 5
JACOBIANS = 6
OUTPUTS = 7  # rows written in this call
FRESH = 8  # 1: begin anew from (t, x)
CONVENTION = 9  # 1: error norm and step control of MATLAB's solvers
SAMPLES = 10  # how often the controller was sampled
REJECTED = 11  # steps rejected in a row
WITH_JACOBIAN = 12  # 1: a kernel gives the Jacobian, not differences
COUNTS_OWN = 13
COUNTS = 24

EPSILON = 2.220446049250313e-16


# shapes of the arguments that all routines of an adaptive method share
METHOD_SHAPES = {
    "t": "1",
    "x": "n",
    "p": "m",
    "f": "1, n, m -> n",
    "jacobian": "1, n, m -> ns*ns",
    "atol": "n",
    "store": str(STORE),
    "counts": str(COUNTS),
    "memory": "rows, n",
    "table": "size",
    "J": "ns, ns",
    "E1": "ns, ns",
    "E2": "2*ns, 2*ns",
    "pivots": "3*ns",
    "delta": "3*ns",
}
