"""Random trees in Pinocchio, and what it computes for them.

    python -m tests.equations.spatial.pinocchio_trees    # writes tests/data/pinocchio/trees.json

The file keeps the answers where Pinocchio is not installed; where it is, they are computed anew.
Rows and columns are in the order of our velocities.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import biela as bl
from biela.equations.spatial import SpatialTree
from biela.model.joints import Joint
from tests.equations.spatial.trees import KINDS, random_tree, state

STORED = Path(__file__).parents[2] / "data" / "pinocchio" / "trees.json"
#: Joints that Pinocchio has, or is given, with the same coordinates and velocities.
SHARED = tuple(k for k in KINDS if not k[0].startswith("point_on"))
#: Those of them that are joints of its own, and not composed of others.
OWN = tuple(k for k in KINDS if k[0] in ("revolute", "prismatic", "spherical", "helical", "fixed"))
#: Trees by their number: bodies, joints.  Those from 70 on float.
TREES = (
    {seed: (8, OWN) for seed in (50, 51)}
    | {seed: (8, SHARED) for seed in range(60, 64)}
    | {seed: (6, SHARED) for seed in range(70, 74)}
)
#: Trees whose derivatives are kept as well, and their digits.  Those of composed joints are not
#: what Pinocchio 4.1 says, but differences of its inverse dynamics: it leaves a term out.
WITH_DERIVATIVES = {50: 1e-11, 60: 1e-9, 70: 1e-9}


def tree_of(seed: int) -> bl.Model:
    """A random tree; from 70 on its first joint is free, and one more of a body further out."""
    bodies, kinds = TREES[seed]
    if seed < 70:
        return random_tree(bodies, seed, kinds, turned=False)
    m = random_tree(1, seed, (("free", {}),), turned=False)
    more = random_tree(bodies, seed + 1000, kinds, turned=False)
    # the second tree stands on the floating body
    bodies_there = {"ground": m.bodies["b0"]}
    for joint in depth_first(more):
        old = more.bodies[joint.j.body]
        i, j = joint.i, joint.j
        body = m.body(
            f"c_{j.body}",
            mass=old.inertia.mass,
            com=old.inertia.com,
            inertia=[old.inertia.moments[k] for k in range(6)],
        )
        bodies_there[j.body] = body
        markers = []
        for marker, on in ((i, bodies_there[i.body]), (j, body)):
            R = np.array(marker.orientation.axes, dtype=float)
            markers.append(
                on.at(*map(float, marker.position), axis=R[:, 2].tolist(), x_axis=R[:, 0].tolist())
            )
        settings = {"pitch": joint.pitch} if joint.kind == "helical" else {}
        m.joint(joint.kind, f"c_{joint.name}", *markers, **settings)
    return m


def depth_first(m: bl.Model, body: str = "ground") -> Iterator[Joint]:
    """Pinocchio numbers all that follows a joint before it goes on to the next."""
    for joint in m.joints.values():
        if isinstance(joint, Joint) and joint.i.body == body:
            yield joint
            yield from depth_first(m, joint.j.body)


def in_pinocchio(m: bl.Model, flyer: bool = False) -> Any:
    """The same tree, with the frame of each joint at its marker j.

    A free joint has the rates of its coordinates, or, as a ``flyer``, those of the body.
    """
    import pinocchio as pin

    def composite(*parts: Any) -> Any:
        made = pin.JointModelComposite()
        for part in parts:
            made.addJoint(part)
        return made

    def placed(marker: Any) -> Any:
        R = np.array(marker.orientation.axes)
        return pin.SE3(R, np.array(marker.position, dtype=float))

    kinds = {
        "revolute": lambda joint: pin.JointModelRZ(),
        "prismatic": lambda joint: pin.JointModelPZ(),
        "spherical": lambda joint: pin.JointModelSpherical(),
        "helical": lambda joint: pin.JointModelHZ(joint.pitch / (2 * np.pi)),
        "cylindrical": lambda joint: composite(pin.JointModelPZ(), pin.JointModelRZ()),
        "universal": lambda joint: composite(pin.JointModelRX(), pin.JointModelRY()),
        "planar": lambda joint: composite(
            pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ()
        ),
        "free": lambda joint: (
            pin.JointModelFreeFlyer()
            if flyer
            else composite(pin.JointModelTranslation(), pin.JointModelSpherical())
        ),
    }
    made = pin.Model()
    made.gravity.linear = np.array(m.gravity, dtype=float)
    joints: dict[str, tuple[int, Any]] = {"ground": (0, pin.SE3.Identity())}
    for joint in depth_first(m):
        number, frame = joints[joint.i.body]
        at = frame * placed(joint.i)
        frame = placed(joint.j).inverse()
        if joint.kind == "fixed":
            frame = at * frame
        else:
            number = made.addJoint(number, kinds[joint.kind](joint), at, joint.name)
        joints[joint.j.body] = number, frame
        body = m.bodies[joint.j.body].inertia
        xx, yy, zz, xy, xz, yz = body.moments
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        made.appendBodyToJoint(number, pin.Inertia(body.mass, np.array(body.com), I), frame)
    return made


def matched(m: bl.Model, made: Any, tree: SpatialTree, q: Any) -> tuple[Any, Any]:
    """The coordinates of Pinocchio for ours, and our number of each of its velocities."""
    theirs = np.empty(made.nq)
    order = np.empty(len(tree.v), dtype=int)
    known = {name: k for k, name in enumerate(tree.v_names)}
    for joint in m.joints.values():
        if joint.kind == "fixed":
            continue
        number = made.getJointId(joint.name)
        first, speed = made.joints[number].idx_q, made.joints[number].idx_v
        for name, (i, k) in tree.scalars.items():
            if name.startswith(f"{joint.name}."):
                theirs[first], order[speed] = q[i], k
                first, speed = first + 1, speed + 1
        if joint.kind in ("spherical", "free"):
            k = known[f"{joint.name}.rotation_wx"]
            e = q[next(i for i, j in tree.quaternions if j == k) :][:4]
            theirs[first : first + 4] = [*e[1:], e[0]]
            order[speed : speed + 3] = [k, k + 1, k + 2]
    return theirs, order


def answers(seed: int) -> dict[str, Any]:
    """A state, and what Pinocchio says of the tree in it."""
    import pinocchio as pin

    m = tree_of(seed)
    made, tree = in_pinocchio(m), SpatialTree(m)
    data = made.createData()
    q, v, a = state(tree, seed)
    theirs, order = matched(m, made, tree, q)
    back = np.argsort(order)
    both = np.ix_(back, back)
    tau = pin.rnea(made, data, theirs, v[order], a[order])
    M = pin.crba(made, data, theirs)
    M = np.triu(M) + np.triu(M, 1).T
    found = {
        "q": q,
        "v": v,
        "a": a,
        "tau": tau[back],
        "M": M[both],
        "forward": pin.aba(made, data, theirs, v[order], tau)[back],
        "momentum": pin.computeCentroidalMap(made, data, theirs)[[3, 4, 5, 0, 1, 2]][:, back],
    }
    if seed in WITH_DERIVATIVES:
        if TREES[seed][1] is OWN:
            pin.computeRNEADerivatives(made, data, theirs, v[order], a[order])
            by_q, by_v = data.dtau_dq.copy(), data.dtau_dv.copy()
        else:
            by_q = _slope(
                lambda d: pin.rnea(made, data, pin.integrate(made, theirs, d), v[order], a[order]),
                made.nv,
            )
            by_v = _slope(lambda d: pin.rnea(made, data, theirs, v[order] + d, a[order]), made.nv)
        found |= {"tau_q": by_q[both], "tau_v": by_v[both]}
    return found


def _slope(f: Callable[[Any], Any], n: int, h: float = 1e-3) -> Any:
    """By central differences of fourth order."""
    columns = [
        (8 * (f(h * e) - f(-h * e)) - (f(2 * h * e) - f(-2 * h * e))) / (12 * h) for e in np.eye(n)
    ]
    return np.stack(columns, axis=1)


def stored() -> dict[int, dict[str, Any]]:
    """The answers that were kept."""
    kept = json.loads(STORED.read_text(encoding="utf-8"))["trees"]
    return {int(k): {n: np.array(x) for n, x in found.items()} for k, found in kept.items()}


def main() -> None:
    import pinocchio as pin

    trees = {seed: {n: x.tolist() for n, x in answers(seed).items()} for seed in TREES}
    origin = f"Pinocchio {pin.__version__}, python -m tests.equations.spatial.pinocchio_trees"
    STORED.parent.mkdir(exist_ok=True)
    STORED.write_text(json.dumps({"origin": origin, "trees": trees}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
