"""The spatial mechanisms of the gallery against closed forms, and what they are known for.

Each one is solved a second time by hand, with its velocities and accelerations (`Moving` carries
them along), and compared over the whole run; nothing of biela's formulations is used for that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest

import biela as bl
from biela.analysis.inverse_kinematics import InverseKinematics, PoseTarget
from biela.analysis.mobility import mobility
from biela.errors import AssemblyError, SimulationError
from biela.model.files import load
from tests.examples.gallery import FOLDER, Floats, frame, model, motion, system
from tests.examples.linkages import Moving, steady, swinging, turning
from tests.examples.suspension import wheel_travel
from tests.oracles import five_bars

TURN = 2 * math.pi
Point = tuple[Moving | float, Moving | float, Moving | float]
#: A direction that does not move, and the angle about it.
Spin = tuple[tuple[float, float, float], Moving]


@dataclass(frozen=True)
class Expected:
    """Points of frames, and bodies that turn about axes that do not move."""

    points: Mapping[str, Point]
    spins: Mapping[str, Spin] = field(default_factory=dict)


# --------------------------------------------------------------------------------- by hand


def cosine(angle: Moving) -> Moving:
    return turning(angle).x


def sine(angle: Moving) -> Moving:
    return turning(angle).z


def arc_tangent(y: Moving, x: Moving) -> Moving:
    return Moving((x + 1j * y).angle)


def arc_cosine(c: Moving) -> Moving:
    return arc_tangent((1 - c * c).root, c)


def waving(t: Floats, middle: float, size: float, speed: float) -> Moving:
    """Middle + size cos(speed t)."""
    c, s = np.cos(speed * t), np.sin(speed * t)
    return Moving([middle + size * c, -size * speed * s, -size * speed**2 * c])


def about_z(angle: float, x: Moving | float, y: Moving | float) -> tuple[Moving, Moving]:
    turned = (Moving.of(x) + 1j * Moving.of(y)) * complex(math.cos(angle), math.sin(angle))
    return turned.x, turned.z


def spatial_slider_crank(t: Floats, l: float = 0.3) -> Expected:
    angle = steady(t, 0, TURN)
    y, z = 0.1 - 0.08 * sine(angle), 0.12 + 0.08 * cosine(angle)
    x = (l * l - y * y - z * z).root
    return Expected({"slider": (x, 0, 0), "rod.ball": (0, y, z)}, {"crank": ((1, 0, 0), angle)})


def spherical_arm(t: Floats) -> Expected:
    y = steady(t, 0, 0.5)
    bend = arc_cosine((1 + y * y).root / 4.0)
    return Expected(
        {"forearm": (1, y, 4), "forearm.elbow": (0.5, y / 2.0, 4 + 2 * sine(bend))},
        {"column": ((0, 0, 1), arc_tangent(y, Moving.of(1)))},
    )


def bennett(t: Floats) -> Expected:
    a, alpha, beta = 0.2, math.radians(40), math.radians(70)
    b = a * math.sin(beta) / math.sin(alpha)
    half = steady(t, math.pi / 6, math.pi / 2)
    ratio = math.sin((beta + alpha) / 2) / math.sin((beta - alpha) / 2)
    A, B = 2 * half, 2 * arc_tangent(ratio * cosine(half), sine(half))
    lifted = a * sine(A)
    return Expected(
        {
            "coupler": (b + a * cosine(A), lifted * math.cos(beta), lifted * math.sin(beta)),
            "rocker": (-a * cosine(B), -a * sine(B), 0),
        },
        {"crank": ((0, -math.sin(beta), math.cos(beta)), A), "rocker": ((0, 0, 1), B)},
    )


def universal_shaft(t: Floats) -> Expected:
    angle, beta = steady(t, 0, TURN), math.radians(30)
    output = arc_tangent(sine(angle), math.cos(beta) * cosine(angle))
    along = (math.cos(beta), math.sin(beta), 0.0)
    return Expected({"output": (0, 0, 0)}, {"input": ((1, 0, 0), angle), "output": (along, output)})


def cardan_shaft(t: Floats) -> Expected:
    angle, beta = steady(t, 0, TURN), math.radians(25)
    between = arc_tangent(sine(angle), math.cos(beta) * cosine(angle))
    along = (math.cos(beta), math.sin(beta), 0.0)
    end = (0.4 * along[0], 0.4 * along[1], 0)
    return Expected(
        {"spline": end, "output": end},
        {"tube": (along, between), "spline": (along, between), "output": ((1, 0, 0), angle)},
    )


def rssr(t: Floats) -> Expected:
    a, b, c, d, e, f = 0.06, 0.15, 0.28, 0.05, -0.15, 0.18
    angle = steady(t, 0, TURN)
    x, y = a * cosine(angle), a * sine(angle)
    # |B - A|² = c²  is  p cos psi + q sin psi = -k
    p, q = 2 * b * (d - y), 2 * b * e
    k = (x - f) * (x - f) + (y - d) * (y - d) + (b * b + e * e - c * c)
    psi = arc_tangent(Moving.of(q), p) + arc_cosine(-k / (p * p + q * q).root)
    return Expected(
        {"rod": (x, y, 0), "rod.ball": (f, d + b * cosine(psi), e + b * sine(psi))},
        {"rocker": ((1, 0, 0), psi)},
    )


def screw_press(t: Floats) -> Expected:
    angle = -2 * math.pi * (1 - waving(t, 0, 1, TURN / 4))
    down = 0.02 * angle / TURN
    return Expected(
        {"screw": (0, 0, down), "ram": (0, 0, down - 0.15)}, {"screw": ((0, 0, 1), angle)}
    )


def scara(t: Floats) -> Expected:
    a, b = 0.35, 0.25
    x, y = waving(t, 0.35, 0.12, math.pi), swinging(t, 0.1, 0.12, math.pi)
    elbow = arc_cosine((x * x + y * y - (a * a + b * b)) / (2 * a * b))
    shoulder = arc_tangent(y, x) - arc_tangent(b * sine(elbow), a + b * cosine(elbow))
    z = swinging(t, 0.1, 0.05, TURN)
    return Expected(
        {"tool": (x, y, z), "forearm": (a * cosine(shoulder), a * sine(shoulder), 0.4)},
        {
            "upper": ((0, 0, 1), shoulder),
            "forearm": ((0, 0, 1), shoulder + elbow),
            "tool": ((0, 0, 1), shoulder + elbow + steady(t, 0, -math.pi)),
        },
    )


def delta(t: Floats) -> Expected:
    R, L, r, l, w = 0.2, 0.3, 0.05, 0.7, 0.04
    x, y = waving(t, 0, 0.15, TURN), swinging(t, 0, 0.15, TURN)
    z = swinging(t, -0.65, 0.06, 2 * TURN)
    points: dict[str, Point] = {"platform": (x, y, z)}
    spins: dict[str, Spin] = {"platform": ((0, 0, 1), steady(t, 0, 0))}
    for k in range(3):
        phi = TURN * k / 3
        u, v = about_z(-phi, x, y)
        u = u + (r - R)
        # (L cos - u)² + v² + (L sin + z)² = l²  is  u cos - z sin = k
        level = (u * u + v * v + z * z + (L * L - l * l)) / (2 * L)
        angle = arc_tangent(-z, u) - arc_cosine(level / (u * u + z * z).root)
        out = R + L * cosine(angle)
        points[f"arm{k + 1}.left"] = (*about_z(phi, out, w), -L * sine(angle))
        points[f"arm{k + 1}.right"] = (*about_z(phi, out, -w), -L * sine(angle))
        spins[f"arm{k + 1}"] = ((-math.sin(phi), math.cos(phi), 0.0), angle)
    return Expected(points, spins)


BY_HAND: dict[str, Callable[[Floats], Expected]] = {
    f.__name__: f
    for f in (
        spatial_slider_crank,
        spherical_arm,
        bennett,
        universal_shaft,
        cardan_shaft,
        rssr,
        screw_press,
        scara,
        delta,
    )
}


def close(found: Floats, wanted: Floats, limit: float) -> None:
    """Metres and seconds where all is small, else a part of what is compared."""
    error = np.abs(found - wanted).max()
    assert error <= limit * max(1.0, np.abs(wanted).max()), (error, limit)


def compare(results: bl.Results, expected: Expected, worst: float = 1e-10) -> None:
    """Places, velocities and accelerations, the last with an error up to the worst one."""
    for name, point in expected.points.items():
        place, _, twist, slope = frame(results, name)
        for k, component in enumerate(point):
            wanted = Moving.of(component).parts.real + np.zeros((3, len(results.t)))
            close(place[:, k], wanted[0], 1e-12)
            close(twist[:, k], wanted[1], 1e-10)
            close(slope[:, k], wanted[2], worst)
    for name, (axis, angle) in expected.spins.items():
        _, axes, twist, slope = frame(results, name)
        wanted = angle.parts.real + np.zeros((3, len(results.t)))
        close(twist[:, 3:] @ np.array(axis), wanted[1], 1e-10)
        close(slope[:, 3:] @ np.array(axis), wanted[2], worst)
        # how far it has turned since the start
        turned = axes @ axes[0].T
        across = np.eye(3)[int(np.argmin(np.abs(axis)))]
        side = np.cross(axis, across)
        side /= np.linalg.norm(side)
        moved = turned @ side
        found = np.arctan2(moved @ np.cross(axis, side), moved @ side)
        # 1e-12 m at the end of a lever of 0.1 m
        close(np.exp(1j * found), np.exp(1j * (wanted[0] - wanted[0, 0])), 1e-11)


@pytest.mark.parametrize("name", [name for name in BY_HAND if name != "bennett"])
def test_a_mechanism_moves_as_its_closed_form_says(name: str) -> None:
    results = motion(name)
    compare(results, BY_HAND[name](results.t))


def test_a_bennett_linkage_moves_as_its_half_angles_say() -> None:
    """At 0.67 s it is nearly folded, where some of its redundant rows nearly depend on others."""
    results = motion("bennett")
    compare(results, bennett(results.t))


# ------------------------------------------------------------------------ what they are known for


@pytest.mark.parametrize("length", [0.27, 0.24])
def test_the_spatial_slider_crank_goes_round_with_shorter_rods(length: float) -> None:
    equations = system("spatial_slider_crank")
    results = bl.kinematics(equations, 1.0, step=0.01, parameters={"l": length})
    compare(results, spatial_slider_crank(results.t, length))


def test_the_spatial_slider_crank_locks_where_its_rod_is_too_short() -> None:
    """With a rod of 0.236 m it stops where sqrt(y² + z²) reaches the length, before 0.2362 m."""
    with pytest.raises(SimulationError, match=r"cannot reach.*motor\.angle") as caught:
        bl.kinematics(system("spatial_slider_crank"), 1.0, step=0.01, parameters={"l": 0.236})
    results = caught.value.results
    # hypot(0.1, 0.12) + 0.08 is the farthest pin; the rod is reached on the way to it
    lever, far = math.hypot(0.1, 0.12), math.atan2(-0.1, 0.12)
    bend = math.acos((0.236**2 - lever**2 - 0.08**2) / (2 * lever * 0.08))
    lock = (far - bend) % TURN / TURN
    assert results.t[-1] <= lock < results.t[-1] + 0.01
    compare(results, spatial_slider_crank(results.t, 0.236))


def test_the_spherical_arm_leads_its_hand_along_the_line_by_the_laws_of_its_joints() -> None:
    arm = load(FOLDER / "spherical_arm.toml")
    del arm.drivers["line"]
    bend = "acos(sqrt(1 + (speed*t)^2)/4)"
    laws = {"base": "atan(speed*t)", "shoulder": f"-{bend}", "elbow": f"2*{bend}"}
    for joint, law in laws.items():
        arm.driver("rotary", f"{joint}_motor", coordinate=joint, law=law)
    results = bl.kinematics(arm, 2.0, step=0.02)
    compare(results, spherical_arm(results.t))
    # the digits of the spec of this example, at 1.98 s
    assert results["base_angle"][99] == pytest.approx(0.780373, abs=5e-7)
    assert results["elbow_angle"][99] == pytest.approx(2 * 1.211314, abs=1e-6)


def test_a_bennett_linkage_moves_although_a_count_forbids_it() -> None:
    bars = load(FOLDER / "bennett.toml")
    bars.drivers.clear()
    for coordinates in ("joint", "reference"):
        found = mobility(bl.formulate(bars, coordinates))
        assert (found.by_count, found.by_rank, len(found.redundant)) == (-2, 1, 3)


def test_a_bennett_linkage_of_other_lengths_cannot_be_turned() -> None:
    bars = load(FOLDER / "bennett.toml")
    bars.drivers.clear()
    equations = bl.formulate(bars)
    assert bl.assemble(equations, hold={"A.angle": 1.0}).mobility == 1
    with pytest.raises(AssemblyError, match=r"A\.angle = 1"):
        bl.assemble(bars, hold={"A.angle": 1.0}, parameters={"b": 0.3})


def test_the_bricard_linkage_swings_as_its_particles_do() -> None:
    results = motion("bricard")
    found = mobility(system("bricard"))
    assert (found.by_count, found.by_rank, len(found.redundant)) == (0, 1, 1)
    q = {name: results[f"{name}.angle"] for name in ("P0", "P1", "P2", "P4", "P5")}
    for name, other in (("P2", "P0"), ("P4", "P0"), ("P5", "P1")):
        np.testing.assert_allclose(q[name], q[other], atol=1e-8)
    a, b = np.sin(q["P0"]), np.sin(q["P1"])
    np.testing.assert_allclose(a + b + a * b, 0.0, atol=1e-8)
    # problem A04 of the IFToMM library: bars of square section, 0.1 m
    times = np.array([0.5, 1.0])
    for t, ends in zip(times, five_bars.bricard(times, side=0.1)[2], strict=True):
        k = int(np.argmin(np.abs(results.t - t)))
        np.testing.assert_allclose(frame(results, "bar4")[0][k], ends[3], atol=1e-8)
    assert np.ptp(results["energy"]) < 1e-7


def test_one_universal_joint_runs_unevenly_and_two_run_evenly() -> None:
    one, two = motion("universal_shaft"), motion("cardan_shaft")
    c = math.cos(math.radians(30))
    ratio = one["output_angle_rate"] / TURN
    assert ratio.min() == pytest.approx(c, rel=1e-12)
    assert ratio.max() == pytest.approx(1 / c, rel=1e-12)
    np.testing.assert_allclose(two["output_angle"], TURN * two.t, atol=1e-12)
    assert np.ptp(two["tube_angle_rate"]) > 1.0


def test_the_torque_at_a_screw_press_lifts_presses_and_accelerates() -> None:
    press, results = model("screw_press"), motion("screw_press")
    # M v' + Φᵀ λ = Q: the motor gives -λ
    torque = -bl.inverse_dynamics(system("screw_press"), results)["λ(hand.angle)"]
    angle = screw_press(results.t).spins["screw"][1].parts.real
    lead = 0.02 / TURN
    screw, ram = press.bodies["screw"].inertia, press.bodies["ram"].inertia
    mass = press.number(screw.mass) + press.number(ram.mass)
    spring = -50_000 * lead * angle[0]
    wanted = press.number(screw.moments[2]) * angle[2]
    wanted = wanted + lead * (mass * (9.81 + lead * angle[2]) - spring)
    close(torque, wanted, 1e-10)


def test_the_arms_of_a_delta_robot_place_its_platform_where_three_spheres_meet() -> None:
    robot = load(FOLDER / "delta.toml")
    robot.drivers.clear()
    laws = ("0.3 + 0.2*sin(3*t)", "0.3 - 0.3*sin(2*t)", "0.3 + 0.25*t")
    for k, law in enumerate(laws, 1):
        robot.driver("rotary", f"drive{k}", coordinate=f"motor{k}", law=law)
    results = bl.kinematics(robot, 1.0, step=0.05, q={f"motor{k}.angle": 0.3 for k in (1, 2, 3)})
    centres = []
    for k, law in enumerate((0.2, -0.3, 0.25)):
        angle = 0.3 + law * (np.sin(3 * results.t), np.sin(2 * results.t), results.t)[k]
        phi, out = TURN * k / 3, 0.2 - 0.05 + 0.3 * np.cos(angle)
        centres.append(np.stack([out * np.cos(phi), out * np.sin(phi), -0.3 * np.sin(angle)], 1))
    place, axes, _, _ = frame(results, "platform")
    close(place, lowest_meeting(*centres, 0.7), 1e-12)
    close(axes, np.eye(3), 1e-12)


def lowest_meeting(A: Floats, B: Floats, C: Floats, r: float) -> Floats:
    """Where spheres of one radius about three points (n, 3) meet, the lower of the two places."""
    u, v = B - A, C - A
    w = np.cross(u, v)
    # the centre of the circle through the three points, from A
    uu, vv = (u * u).sum(1)[:, None], (v * v).sum(1)[:, None]
    ww = (w * w).sum(1)[:, None]
    middle = (uu * np.cross(v, w) + vv * np.cross(w, u)) / (2 * ww)
    height = np.sqrt(r * r - (middle * middle).sum(1)[:, None])
    up = w / np.sqrt(ww)
    return np.asarray(A + middle - height * up * np.sign(up[:, 2:]))


# -------------------------------------------------------------------------------- Stewart platform


def turn(axis: int, angle: Moving) -> list[list[Moving]]:
    c, s, one, zero = cosine(angle), sine(angle), Moving.of(1), Moving.of(0)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = [[one if a == b else zero for b in range(3)] for a in range(3)]
    R[i][i], R[j][j], R[i][j], R[j][i] = c, c, -s, s
    return R


def times(R: list[list[Moving]], p: list[Moving]) -> list[Moving]:
    return [row[0] * p[0] + row[1] * p[1] + row[2] * p[2] for row in R]


def test_the_legs_of_a_stewart_platform_are_as_long_as_its_pose_asks() -> None:
    results = motion("stewart")  # frames of all its markers take long to derive: not asked for
    t, tilt = results.t, math.radians(10)
    place = [
        waving(t, 0, 0.15, math.pi),
        swinging(t, 0, 0.15, math.pi),
        swinging(t, 1.2, 0.075, TURN),
    ]
    roll, pitch = swinging(t, 0, tilt, math.pi), swinging(t, 0, tilt, TURN)
    feet, heads = (12, 108, 132, 228, 252, 348), (50, 70, 170, 190, 290, 310)
    for k, (foot, head) in enumerate(zip(np.radians(feet), np.radians(heads), strict=True)):
        arm = [Moving.of(0.6 * math.cos(head)), Moving.of(0.6 * math.sin(head)), Moving.of(0)]
        for axis, angle in ((2, roll), (1, pitch), (0, roll)):
            arm = times(turn(axis, angle), arm)
        tip = [p + b for p, b in zip(place, arm, strict=True)]
        leg = [tip[0] - math.cos(foot), tip[1] - math.sin(foot), tip[2]]
        length = (leg[0] * leg[0] + leg[1] * leg[1] + leg[2] * leg[2]).root.parts.real
        close(results[f"leg[{k}].length"], length[0], 1e-12)
        close(results[f"leg[{k}].length_rate"], length[1], 1e-10)
        close(results[f"dleg[{k}].slide.displacement_rate"], length[2], 1e-10)


# ------------------------------------------------------------------------------ double wishbone


def test_a_wheel_on_double_wishbones_moves_as_the_distances_of_its_points_say() -> None:
    results = motion("double_wishbone")
    wanted = wheel_travel(results.t)
    names = ("lower.ball", "upper.ball", "upright.tie_end", "upright.wheel")
    for k, name in enumerate(names):
        place, _, twist, slope = frame(results, name)
        close(place, wanted[0][:, k], 1e-12)
        close(twist[:, :3], wanted[1][:, k], 1e-10)
        close(slope[:, :3], wanted[2][:, k], 1e-10)


def test_a_wheel_on_double_wishbones_leans_inwards_as_it_goes_up() -> None:
    results = motion("double_wishbone")
    up, down = int(np.argmax(results["wheel_point.z"])), int(np.argmin(results["wheel_point.z"]))
    assert math.radians(-4) < results["camber"][up] < math.radians(-1)
    assert math.radians(0.5) < results["camber"][down] < math.radians(4)
    assert np.abs(results["toe"]).max() < math.radians(0.2)


# ------------------------------------------------------------------------------------ seven joints

#: Craig's parameters of the arm with seven joints: length before, twist before, offset along.
PANDA = (
    (0.0, 0.0, 0.333),
    (0.0, -math.pi / 2, 0.0),
    (0.0, math.pi / 2, 0.316),
    (0.0825, math.pi / 2, 0.0),
    (-0.0825, -math.pi / 2, 0.384),
    (0.0, math.pi / 2, 0.0),
    (0.088, math.pi / 2, 0.0),
)


def flange(q: Floats) -> Floats:
    """The pose of the flange (4 x 4) by Craig's matrices."""
    T = np.eye(4)
    for (a, alpha, d), angle in zip(PANDA, q, strict=True):
        c, s, ca, sa = math.cos(angle), math.sin(angle), math.cos(alpha), math.sin(alpha)
        T = T @ np.array(
            [
                [c, -s, 0, a],
                [s * ca, c * ca, -sa, -d * sa],
                [s * sa, c * sa, ca, d * ca],
                [0, 0, 0, 1],
            ]
        )
    T[:3, 3] += 0.107 * T[:3, 2]
    return T


def test_the_hand_of_the_arm_with_seven_joints_draws_its_circle() -> None:
    results = motion("panda")
    q = np.stack([results[f"joint{k}.angle"] for k in range(1, 8)], axis=1)
    angle = math.pi * results.t
    places = np.stack([0.5 + 0 * angle, 0.12 * np.sin(angle), 0.45 + 0.12 * np.cos(angle)], axis=1)
    for k, (row, place) in enumerate(zip(q, places, strict=True)):
        T = flange(row)
        np.testing.assert_allclose(T[:3, 3], place, atol=1e-12)
        np.testing.assert_allclose(T[:3, :3], np.diag([1, -1, -1]), atol=1e-12)
        assert row[2] == pytest.approx(math.radians(25) * math.sin(angle[k]), abs=1e-12)
    entries = system("panda").q
    assert all(
        (e.lower <= column).all() and (column <= e.upper).all()
        for e, column in zip(entries, q.T, strict=True)
    )


def test_inverse_kinematics_find_poses_of_the_arm_with_seven_joints_within_its_limits() -> None:
    arm = load(FOLDER / "panda.toml")
    arm.drivers.clear()
    equations = bl.formulate(arm)
    low = np.array([e.lower for e in equations.q])
    high = np.array([e.upper for e in equations.q])
    solver = InverseKinematics(equations, PoseTarget("link7.flange"))
    random = np.random.default_rng(7)
    for _ in range(10):
        wanted = flange(low + (high - low) * random.uniform(0.1, 0.9, 7))
        found = solver.solve(wanted)
        assert found.converged
        np.testing.assert_allclose(flange(found.q), wanted, atol=1e-9)
        assert (low <= found.q).all() and (found.q <= high).all()
