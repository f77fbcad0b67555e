"""Answers to a user's questions.

Assembly, kinematics, inverse kinematics, dynamics, sweeps and real-time steps, each asked of a
system by the capability it needs; also the `Robot` façade and the loader of model files.

May import every package of biela but the front doors, `biela.studio` and `biela.cli`. Empty as yet.
"""
