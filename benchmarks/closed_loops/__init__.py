"""Simulation of mechanisms with closed loops: the same ones for biela and for its peers.

`mechanism` describes a mechanism in plain numbers and judges a motion of it; `catalogue` holds the
three that are measured; `mujoco_peer` and `pinocchio_peer` build them for those packages and run
them; ``python -m benchmarks.closed_loops`` prints what the peers do alone.
"""
