"""``print(robot)``: all of a short robot, the ends of a long one."""

from __future__ import annotations

import biela as bl


def chain(count: int) -> bl.Robot:
    m = bl.Model("chain")
    before = m.ground.at()
    for k in range(count):
        link = m.body(f"link{k}", mass=0.1, com=(0, 0, -0.05), inertia=(1e-4, 1e-4, 2e-5))
        m.joint("revolute", f"knot{k}", before, link.at())
        before = link.at(0, 0, -0.1)
    return bl.Robot(m)


def test_a_robot_of_forty_joints_is_shown_whole() -> None:
    lines = str(chain(40)).splitlines()
    assert [line.split()[0] for line in lines[3:43]] == [f"knot{k}" for k in range(40)]
    assert "…" not in "".join(lines)


def test_a_long_robot_is_shown_by_its_ends() -> None:
    robot = chain(100)
    lines = str(robot).splitlines()
    assert len(lines) == 2 + 1 + 20 + 1 + 20 + 2
    assert lines[22].split()[0] == "knot19"
    assert lines[23].startswith("… 60 more joints")
    assert lines[24].split()[:2] == ["knot80", "revolute"]
    assert lines[-1].startswith("mass: 10 kg (link0 0.1,")
    assert lines[-1].endswith("… 60 more)")
    assert len(robot.table.joints) == 100


def test_a_robot_without_freedoms_has_no_empty_table() -> None:
    m = bl.Model("post")
    m.joint("fixed", "foot", m.ground, m.body("pole", mass=3.0, inertia=0.1))
    text = str(bl.Robot(m))
    assert text.startswith("post: 0 freedoms")
    assert text.endswith("frames\n\nmass: 3 kg (pole 3)")
