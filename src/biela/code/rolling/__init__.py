"""Long functions as loops over equal parts: a mechanism with six legs has the code of one.

Straight-line code that does not fit into the first cache of a processor runs at the pace of the
second, and of whoever else is using it.  Here equal parts are found (`matching`), the best of them
chosen (`families`) and put in order (`pieces`); `biela.code.targets.c99_rolled` writes them.  The
operations and their operands stay what they are, so that results keep their bits.
"""

from biela.code.rolling.pieces import Family, Piece, Rolled, rolled

__all__ = ["Family", "Piece", "Rolled", "rolled"]
