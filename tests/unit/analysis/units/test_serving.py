from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from cutaway.analysis.samples.coding import Coded
from cutaway.analysis.units.serving import ClassComparison

floats = st.sampled_from([-3.5, -1e-30, -0.0, 0.0, 1e-40, 0.5, 2.0, 1e30]) | st.floats(-10, 10, width=32)


@given(st.lists(st.tuples(floats, st.integers(0, 3)), min_size=4, max_size=60))
def test_auc_is_scikit_learns_with_ties_and_negative_values(rows: list[tuple[float, int]]) -> None:
    values = np.array([value for value, _ in rows], np.float32)
    codes = np.array([code for _, code in rows], np.int64)
    comparison = ClassComparison(Coded(tuple("abcd"), codes), 1, 4)
    if not comparison.applies:
        assert len(set(codes.tolist())) == 1
        return
    found = comparison.compare(values)
    for place, number in enumerate(found.classes.tolist()):
        own = codes == number
        assert found.auc[place] == pytest.approx(roc_auc_score(own, values.astype(np.float64)))
        assert found.means[place] == pytest.approx(values[own].astype(np.float64).mean(), rel=1e-6)
    missing = set(codes.tolist()) - set(found.classes.tolist())
    assert all(roc_auc_score(codes == number, values) <= 0.5 + 1e-12 for number in missing)


def test_the_effect_is_the_difference_of_the_means_in_standard_deviations() -> None:
    values, codes = np.array([5.0, 7, 0, 2, 1, 3], np.float32), np.array([0, 0, 1, 1, 1, 1])
    found = ClassComparison(Coded(("a", "b"), codes), 1, 2).compare(values)
    assert found.classes.tolist() == [0]
    assert (found.means[0], found.rest[0]) == (6, 1.5)
    assert found.effect[0] == pytest.approx(4.5 / values.std())


def test_chance_makes_no_unit_serve_a_class_among_many() -> None:
    rng = np.random.default_rng(0)
    comparison = ClassComparison(Coded(tuple(map(str, range(500))), rng.integers(0, 500, 2000)), 200, 5)
    served = [comparison.compare(rng.normal(size=2000).astype(np.float32)).served for _ in range(200)]
    assert sum(served) == 0


def test_a_large_class_that_stands_out_comes_before_single_samples_that_do() -> None:
    rng = np.random.default_rng(1)
    codes = np.concatenate([np.zeros(100, np.int64), np.repeat(np.arange(1, 401), 1)])
    values = rng.normal(size=500).astype(np.float32) + 2 * (codes == 0)
    found = ClassComparison(Coded(tuple(map(str, range(401))), codes), 10, 3).compare(values.astype(np.float32))
    assert found.classes[0] == 0
    assert found.serves.tolist() == [True, False, False]
    assert found.served == 1


def test_samples_without_a_class_are_not_the_rest() -> None:
    codes = np.array([0, 0, 1, 1, -1, -1])
    found = ClassComparison(Coded(("a", "b"), codes), 1, 2).compare(np.array([2, 3, 0, 1, 9, 9], np.float32))
    assert (found.auc.tolist(), found.rest.tolist()) == ([1.0], [0.5])
