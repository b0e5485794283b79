from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from cutaway.analysis.mapping import making
from cutaway.analysis.mapping.making import two_directions


def test_it_equals_scikit_learn_up_to_sign(digits: tuple[np.ndarray, np.ndarray]) -> None:
    decomposition = pytest.importorskip("sklearn.decomposition")
    expected = decomposition.PCA(2, svd_solver="full").fit_transform(digits[0].astype(np.float64))
    found = two_directions(digits[0])
    signs = np.sign((found * expected).sum(axis=0))
    assert np.allclose(found * signs, expected, atol=1e-2)


def test_many_columns_are_done_in_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    values = (rng.normal(size=(200, 2)) @ rng.normal(size=(2, 60)) * 5 + rng.normal(size=(200, 60))).astype(np.float32)
    whole = two_directions(values)
    monkeypatch.setattr(making, "WIDEST_COVARIANCE", 8)
    assert np.allclose(two_directions(values), whole, atol=1e-2)


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (5, 0), (5, 1), (2, 4)])
def test_what_has_no_two_directions_has_zeros(shape: tuple[int, int]) -> None:
    found = two_directions(np.random.default_rng(0).normal(size=shape).astype(np.float32))
    assert found.shape == (shape[0], 2)
    assert np.isfinite(found).all()


def test_a_preview_does_not_load_torch() -> None:
    code = (
        "import sys, numpy as np; from cutaway.analysis.mapping import make_map;"
        "make_map(np.random.default_rng(0).normal(size=(50, 4)), method='pca'); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
