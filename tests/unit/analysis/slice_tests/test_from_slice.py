"""A weak slice becomes a test that it fails, that the rest would pass, and that it passes once it is mended."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.samples import Samples
from cutaway.analysis.slice_tests import SliceTest, parse_test, run_tests, slice_test_of
from cutaway.analysis.slice_tests.from_slice import _rounded
from cutaway.errors import ConfigurationError

ROWS = 4000
THIN = ("metadata.size < 0.1",)


def make(seed: int, *, weak: float = 0.2, subset: str = "validation") -> Samples:
    """Samples right 9 times of 10, of which those below 0.1 are wrong more often by `weak`, and their loss higher."""
    chance = np.random.default_rng(seed)
    size = chance.random(ROWS)
    wrong = chance.random(ROWS) < np.where(size < 0.1, 0.1 + weak, 0.1)
    loss = chance.exponential(np.where(size < 0.1, 0.3 + 2 * weak, 0.3))
    columns = {
        "sample": [str(row) for row in range(ROWS)],
        "subset": [subset] * ROWS,
        "correct": ~wrong,
        "loss": loss,
        "metadata.size": size,
        "metric.margin": -loss,
    }
    return Samples(pa.table(columns), np.zeros((ROWS, 1), np.float32))


@pytest.mark.parametrize(
    ("metric", "begins"),
    [
        (None, "accuracy where metadata.size < 0.1 at least 0."),
        ("error", "error where metadata.size < 0.1 at most 0."),
        ("loss", "loss where metadata.size < 0.1 at most 0."),
        ("metric.margin", "metric.margin where metadata.size < 0.1 at least -0."),
    ],
)
def test_the_weak_slice_fails_until_it_is_mended(metric: str | None, begins: str) -> None:
    test = slice_test_of(make(0), THIN, metric=metric)
    assert test.text.startswith(begins)
    assert parse_test(test.text) == test
    assert [one.passed for one in run_tests(make(0), [test])] == [False]
    assert [one.passed for one in run_tests(make(1, weak=0.0), [test])] == [True]


def test_a_slice_no_worse_than_the_rest_passes_nearly_always() -> None:
    passed = [
        run_tests(make(n, weak=0.0), [slice_test_of(make(1000 + n, weak=0.0), THIN)])[0].passed for n in range(200)
    ]
    assert np.mean(passed) >= 0.94


def test_without_classes_the_loss_counts() -> None:
    samples = make(0)
    plain = Samples(samples.table.drop_columns(["correct"]), samples.latents)
    assert slice_test_of(plain, THIN).metric == "loss"


def test_subsets_and_a_name_are_kept() -> None:
    test = slice_test_of(make(0, subset="training"), THIN, subsets=["training"], name="thin")
    assert (test.subsets, test.name) == (("training",), "thin")


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ((), "is no slice that a later run has"),
        (("cluster 3",), "clusters are found anew"),
        (("not cluster 3", "metadata.size < 1"), "clusters are found anew"),
        (("metadata.size < 0.001",), "20 samples inside and outside"),
        (("metadata.size < 2",), "inside and 0 outside"),
        (("metadata.sise < 1",), "There is no column"),
        (("metadata.size < 0.5 and metadata.size > 0.1",), "holds double, but|cannot be written"),
    ],
)
def test_what_is_no_slice_for_later_is_refused(where: tuple[str, ...], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        slice_test_of(make(0), where)


@pytest.mark.parametrize(
    ("value", "up", "rounded"),
    [
        (0.9456, False, 0.945),
        (0.9451, True, 0.946),
        (12345.0, False, 12300.0),
        (12345.0, True, 12400.0),
        (-0.3456, False, -0.346),
        (0.0, True, 0.0),
        (0.3, True, 0.3),
        (0.00012345, False, 0.000123),
    ],
)
def test_a_bound_is_rounded_in_favour_of_the_slice(value: float, up: bool, rounded: float) -> None:
    assert _rounded(value, up=up) == rounded
    assert SliceTest("loss", rounded).text == f"loss at least {rounded:g}"
