"""The force library: one small file a kind.  Gravity is a setting of the model."""

from biela.model.forces.actuator import Actuator
from biela.model.forces.bushing import Bushing
from biela.model.forces.drag import Drag
from biela.model.forces.force import Force
from biela.model.forces.friction import Friction
from biela.model.forces.joint_spring import Axial, JointSpring, Torsional
from biela.model.forces.spring_damper import SpringDamper
from biela.model.forces.stop import Stop
from biela.model.forces.wrench import AppliedWrench

__all__ = [
    "Actuator",
    "AppliedWrench",
    "Axial",
    "Bushing",
    "Drag",
    "Force",
    "Friction",
    "JointSpring",
    "SpringDamper",
    "Stop",
    "Torsional",
]
