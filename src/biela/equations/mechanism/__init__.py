"""From a model to a symbolic system: what all formulations of mechanisms share.

A formulation only places the bodies: each freely (`biela.equations.reference_point`), or along the
joints of a tree (`biela.equations.joint_coordinates`).  Markers, joint equations, drivers, forces
and sensors then follow from the places alone.
"""
