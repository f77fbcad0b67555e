"""Linear equations of small motions: their eigenvalues, frequencies and modes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Complexes = npt.NDArray[np.complex128]


@dataclass(frozen=True)
class Mode:
    """A natural motion e^(s t).

    Attributes:
        eigenvalue: s, 1/s; of a conjugate pair the one above the real axis.
        frequency: Natural frequency |s|/2π, Hz; 0 for a motion that does not oscillate.
        damping: Damping ratio -Re s/|s|; 1 for one that dies away without oscillating.
        shape: Displacements along all velocities, largest entry 1.
    """

    eigenvalue: complex
    frequency: float
    damping: float
    shape: Complexes


@dataclass(frozen=True)
class LinearSystem:
    """Small motions x' = A x + B u, y = C x + D u about a state.

    Attributes:
        A: State matrix, (n, n).
        B: Input matrix, (n, inputs).
        C: Output matrix, (outputs, n).
        D: Direct part, (outputs, inputs).
        states: Names of x: independent displacements, then independent velocities.
        inputs: Names of the inputs.
        outputs: Names of the outputs.
        displacements: All displacements by those of the state, (nv, positions).
        velocities: Changes of all velocities by the state, (nv, n).
        t: Time, s.
        q: Position.
        v: Velocity.
        a: Accelerations there.
        lam: Multipliers there.
    """

    A: Floats
    B: Floats
    C: Floats
    D: Floats
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    displacements: Floats
    velocities: Floats
    t: float
    q: Floats
    v: Floats
    a: Floats
    lam: Floats

    @property
    def steady(self) -> bool:
        """Whether the velocities do not change there: an equilibrium or a steady motion."""
        return bool(np.abs(self.a).max(initial=0.0) <= 1e-8 * (1 + np.abs(self.v).max(initial=0.0)))

    @cached_property
    def eigenvalues(self) -> Complexes:
        """Eigenvalues of A, 1/s, by falling real part."""
        found = np.linalg.eigvals(self.A).astype(complex)
        return np.asarray(found[np.lexsort((-found.imag, -found.real))])

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """The natural motions, slowest first; of each conjugate pair one."""
        s, vectors = np.linalg.eig(self.A)
        n = self.displacements.shape[1]
        found = []
        for value, vector in zip(s.astype(complex), vectors.T, strict=True):
            if value.imag < 0:
                continue
            shape = (self.displacements @ vector[:n]).astype(complex)
            largest = shape[np.argmax(np.abs(shape))] if len(shape) else 0
            size = abs(value)
            found.append(
                Mode(
                    complex(value),
                    size / (2 * np.pi) if value.imag > 0 else 0.0,
                    float(-value.real / size) if size else 0.0,
                    shape / largest if largest else shape,
                )
            )
        return tuple(sorted(found, key=lambda mode: abs(mode.eigenvalue)))

    @property
    def frequencies(self) -> Floats:
        """Natural frequencies of the oscillating modes, Hz, rising."""
        return np.array([mode.frequency for mode in self.modes if mode.eigenvalue.imag > 0])
