"""Large mechanisms: equations as kernels run over all instances, motions without Python.

`kinematics` follows drivers, `simulation` forces; `motion` has the equations of motion as native
programs, eliminated by `elimination_groups`.
"""
