"""Robots: the `Robot`, what it answers, its trajectories and rollouts.

`robot` puts together what the other modules add: names, positions, kinematics, dynamics, loops …
"""
