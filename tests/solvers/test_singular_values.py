"""Singular values where LAPACK fails to converge, which it does for few matrices, made to fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biela.singular_values import pinv, svd


def failing(monkeypatch: pytest.MonkeyPatch, bad: Any) -> None:
    """Let NumPy fail for some matrices, alone or in a stack."""
    plain = np.linalg.svd

    def found(a: Any, *args: Any, **kwargs: Any) -> Any:
        stack = np.asarray(a).reshape(-1, *np.shape(a)[-2:])
        if any(bad(one) for one in stack):
            raise np.linalg.LinAlgError("SVD did not converge")
        return plain(a, *args, **kwargs)

    def pseudo(*_: Any, **__: Any) -> Any:
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(np.linalg, "svd", found)
    monkeypatch.setattr(np.linalg, "pinv", pseudo)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("orders", [1, 2])
def test_other_orders_of_the_rows_are_tried(
    monkeypatch: pytest.MonkeyPatch, full: bool, orders: int
) -> None:
    random = np.random.default_rng(1)
    A = random.normal(size=(4, 6, 5))
    A[:, 5] = A[:, 0] - A[:, 3]
    second = A[1]
    tried = [second, second[::-1]][:orders]
    failing(monkeypatch, lambda one: any(np.array_equal(one, x) for x in tried))
    U, s, Vt = svd(A, full_matrices=full)
    wide = 6 if full else 5
    assert U.shape == (4, 6, wide)
    np.testing.assert_allclose((U[:, :, :5] * s[:, None]) @ Vt, A, atol=1e-13)
    np.testing.assert_allclose(
        np.swapaxes(U, 1, 2) @ U, np.tile(np.eye(wide), (4, 1, 1)), atol=1e-13
    )
    inverse = pinv(A, 1e-9)
    np.testing.assert_allclose(A @ inverse @ A, A, atol=1e-12)
    np.testing.assert_allclose(A @ inverse, np.swapaxes(A @ inverse, 1, 2), atol=1e-12)


def test_matrices_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        svd(np.array([[1.0, np.nan], [0.0, 1.0]]))


def test_small_singular_values_are_none() -> None:
    A = np.diag([1.0, 1e-3, 1e-12])
    np.testing.assert_allclose(np.diag(pinv(A, 1e-9)), [1.0, 1e3, 0.0])
