"""The laws of time of the drivers of a model, at many instants at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.equations.blocks.law_values import LawTable

__all__ = ["Laws"]

Floats = npt.NDArray[np.float64]


class Laws:
    """Values and two rates of all laws."""

    def __init__(self, table: LawTable) -> None:
        self.size = table.size
        self._blocks = table.blocks()

    def at(self, t: Floats) -> Floats:
        """Values, rates and second rates, (instants, 3 * number of laws)."""
        found = np.zeros((len(t), 3, self.size))
        for block in self._blocks:
            for row in range(len(block.parameters)):
                given = [t[:, None]]
                if block.parameters.shape[1]:
                    given.append(np.broadcast_to(block.parameters[row], (len(t), -1)))
                values = block.kernel.map(*given)
                for rate, name in enumerate(("w", "dw", "ddw")):
                    places = np.atleast_1d(np.asarray(block.scatter[name][1])[row])
                    found[:, rate, places] = np.asarray(values[rate]).reshape(len(t), -1)
        return found.reshape(len(t), 3 * self.size)
