"""Blocks: equations made of many instances of a few kernels.

A kernel is derived and compiled once a kind ("revolute joint on two bodies", "rigid body"); its
instances differ by a row of parameters and by where they read and write.  `block` lowers them in
two ways: looped, each kernel run over all its instances, so that the cost is linear in their
number; and unrolled, every instance inlined into one graph.
"""

from biela.equations.blocks.block import Block, BlockProgram, looped, program, unrolled
from biela.equations.blocks.frame_motion import FrameMotion
from biela.equations.blocks.reference import reference_blocks
from biela.equations.blocks.reference_blocks import ReferenceBlocks

__all__ = [
    "Block",
    "BlockProgram",
    "FrameMotion",
    "ReferenceBlocks",
    "looped",
    "program",
    "reference_blocks",
    "unrolled",
]
