from __future__ import annotations

import pytest

from biela.equations import formulate
from biela.equations.elements import element_faults
from biela.errors import ModelError
from biela.model import Model


def swing() -> Model:
    m = Model("swing")
    m.body("bar", mass=1.0, inertia=0.1)
    m.joint("revolute", "pin", m.ground, "bar")
    return m


@pytest.mark.parametrize(
    ("law", "coordinate", "told"),
    [
        ("t", "pn", "swing: driver motor (rotary): there is no joint coordinate 'pn'"),
        ("t", "rail", "swing: driver motor (rotary): a rotary driver is for angles"),
    ],
)
def test_what_goes_wrong_names_the_element_once(law: str, coordinate: str, told: str) -> None:
    m = swing()
    m.body("sledge", mass=1.0, inertia=0.1)
    m.joint("prismatic", "rail", m.ground, "sledge")
    m.driver("rotary", "motor", coordinate=coordinate, law=law)
    with pytest.raises(ModelError) as raised:
        formulate(m)
    assert str(raised.value).startswith(told)
    assert str(raised.value).count("driver motor") == 1


def test_all_elements_at_fault_are_found_at_once() -> None:
    m = swing()
    m.driver("rotary", "motor", coordinate="pn", law="t")
    m.force("stop", "end", coordinate="pin", stiffness="3 N/m", upper=1.0)
    m.force("friction", "seal", coordinate="pin", kinetic="3 N")
    m.sensor("expression", "power", text="2*nothing")
    m.sensor("joint", "encoder", coordinate="pin")
    found = element_faults(m)
    started = ["driver motor (rotary)", "force end (stop)", "force seal (friction)"]
    started.append("sensor power (expression)")
    assert len(found) == len(started)
    for text, start in zip(found, started, strict=True):
        assert text.startswith(f"swing: {start}: ")
    assert element_faults(swing()) == []
