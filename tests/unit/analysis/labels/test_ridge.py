"""The closed form of leaving one out is what leaving it out gives."""

from __future__ import annotations

import numpy as np

from cutaway.analysis.labels.ridge import fit_ridge


def test_each_prediction_is_that_of_a_fit_without_the_sample() -> None:
    random = np.random.default_rng(0)
    latents, labels = random.normal(size=(60, 5)).astype(np.float32), random.integers(0, 3, 60)
    fit = fit_ridge(latents, labels, np.ones(60, bool), 3, 0)
    ((rows, found),) = fit.predictions()
    assert rows.tolist() == list(range(60))
    for one in (0, 17, 59):
        others = np.arange(60) != one
        vectors = fit.vectors[others].astype(np.float64)
        gram = vectors.T @ vectors + 0.01 * 60 * np.eye(6)
        weights = np.linalg.solve(gram, vectors.T @ np.eye(3)[labels[others]])
        np.testing.assert_allclose(found[one], fit.vectors[one] @ weights, atol=1e-4)


def test_constant_latents_predict_the_shares_of_the_classes() -> None:
    labels = np.array([0, 0, 0, 1])
    fit = fit_ridge(np.ones((4, 3), np.float32), labels, np.ones(4, bool), 2, 0)
    ((_, found),) = fit.predictions()
    assert np.isfinite(found).all()
    assert (found[:2, 0] > found[:2, 1]).all()
