"""Three-dimensional mechanics on atoms.

Bases and points arranged in trees, frames, vectors and tensors that know their base, solids,
wrenches and twists, and the kinematic operators that give position, velocity and acceleration
between any two of them.

May import `biela.atoms`. Empty as yet.
"""
