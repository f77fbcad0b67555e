"""Size of the Jacobian of the torques of an arm by all of its inputs, against CasADi's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.agreement import check_equal
from benchmarks.chains import ARMS, Chain, casadi_function, states
from benchmarks.peers import arithmetic_instructions, casadi
from benchmarks.report import Row
from biela.code.counts import arithmetic


def run(quick: bool) -> Iterator[Row]:
    del quick  # it takes a second anyway
    for name, links in ARMS.items():
        function = Chain.of(links).function(name)
        derivative = function.jacobian()
        ours, value = arithmetic(derivative.schedule), arithmetic(function.schedule)
        ca = casadi()
        peer = casadi_function(name, links)
        inputs = peer.sx_in()
        matrix = ca.jacobian(ca.vertcat(*peer(*inputs).nz), ca.vertcat(*inputs))
        jacobian = ca.Function("jacobian", inputs, [ca.densify(matrix)])
        state = states(len(links))[:-1]
        check_equal(f"jacobian of {name}", derivative(*state), np.array(jacobian(*state)))
        theirs = arithmetic_instructions(jacobian)
        measured = (
            f"{ours} operations ({ours / value:.1f} times the function), CasADi {theirs}"
            f" ({arithmetic_instructions(jacobian, signs=False)} without changes of sign)"
        )
        what, ratio = f"jacobian of {name} by q, v, a", ours / theirs
        if name == "puma_560":
            yield Row(what, measured, "ratio < 1", ratio, ratio < 1)
        else:
            yield Row(what, measured, ratio=ratio)
