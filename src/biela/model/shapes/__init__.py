"""Simple solids: what bodies are made of, to weigh and to draw.

Every shape has own axes with a position and a rotation in its body, and a density or a mass.  With
the second moments S = ∫ r rᵀ dm / m about the centre of mass, its inertia is m (tr(S) 1 - S).  The
moments are those of the tables (e.g. Beer & Johnston, *Vector Mechanics for Engineers: Dynamics*,
appendix B; Eberly, *Polyhedral Mass Properties*, 2002, for meshes).

A shape without density and mass can be drawn but not weighed.
"""

from biela.model.shapes.round import Capsule, Cone, Cylinder, Ellipsoid, Sphere, Tube
from biela.model.shapes.shape import Shape
from biela.model.shapes.straight import Box, MeshShape, Plate, Rod

__all__ = [
    "SHAPES",
    "Box",
    "Capsule",
    "Cone",
    "Cylinder",
    "Ellipsoid",
    "MeshShape",
    "Plate",
    "Rod",
    "Shape",
    "Sphere",
    "Tube",
]

#: The shapes by the name of their kind.
SHAPES: dict[str, type[Shape]] = {
    shape.kind: shape
    for shape in (Box, Cylinder, Tube, Cone, Sphere, Ellipsoid, Capsule, Rod, Plate, MeshShape)
}
