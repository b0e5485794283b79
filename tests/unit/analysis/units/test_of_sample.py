from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cutaway.analysis.samples import Samples
from cutaway.analysis.units import units_of_sample
from cutaway.errors import AnalysisUnavailable, ConfigurationError


def _samples() -> Samples:
    latents = np.random.default_rng(0).normal(5, 1, size=(200, 6)).astype(np.float32)
    latents[:, 5] = 0.1  # constant: nobody stands out there
    latents[7, :3] = (12, 1, 5.01)
    return Samples.from_arrays(latents)


def test_without_a_gradient_the_unusual_units_come_first() -> None:
    samples = _samples()
    found = units_of_sample(samples, 7)
    assert (found.sample, found.method) == ("7", "deviation")
    assert found.table["unit"].to_pylist()[:2] == [0, 1]
    assert found.table["side"].to_pylist()[:2] == ["above", "below"]
    assert 5 not in found.table["unit"].to_pylist()
    column = samples.latents[:, 0].astype(np.float64)
    assert found.table["z"].to_pylist()[0] == pytest.approx((12 - column.mean()) / column.std())
    assert (found.supporting, found.opposing) == (None, None)


def test_with_a_gradient_the_units_for_and_against_a_linear_score_sum_up_to_it() -> None:
    samples = _samples()
    weights = np.array([0.5, -2.0, 0.0, 1.0, -0.1, 3.0])
    found = units_of_sample(samples, 7, gradient=weights)
    score = float(samples.latents[7].astype(np.float64) @ weights)
    assert found.method == "contribution"
    assert found.supporting is not None
    assert found.opposing is not None
    assert found.supporting > 0 > found.opposing
    assert found.supporting + found.opposing == pytest.approx(score)
    assert sum(found.table["contribution"].to_pylist()) == pytest.approx(score)
    assert sum(found.table["share"].to_pylist()) == pytest.approx(1)
    assert set(found.table["unit"].to_pylist()) == {0, 1, 3, 4, 5}
    sides = dict(zip(found.table["unit"].to_pylist(), found.table["side"].to_pylist(), strict=True))
    assert (sides[0], sides[1]) == ("for", "against")
    sizes = [abs(one) for one in found.table["contribution"].to_pylist()]
    assert sizes == sorted(sizes, reverse=True)


def test_so_many_units_are_shown_on_each_side() -> None:
    found = units_of_sample(_samples(), 7, top=1, gradient=np.array([1.0, -1, 2, -2, 3, -3]))
    assert sorted(found.table["side"].to_pylist()) == ["against", "for"]


def test_the_gradient_of_a_torch_head_gives_its_own_score() -> None:
    torch = pytest.importorskip("torch")
    samples = _samples()
    head = torch.nn.Linear(6, 4, bias=False)
    vector = torch.tensor(samples.latents[7], requires_grad=True)
    score = head(vector)[2]
    (gradient,) = torch.autograd.grad(score, vector)
    found = units_of_sample(samples, 7, gradient=gradient.numpy())
    assert found.supporting is not None
    assert found.opposing is not None
    assert found.supporting + found.opposing == pytest.approx(float(score.detach()), rel=1e-5)


def test_a_sample_like_all_others_has_no_units_that_stand_out() -> None:
    found = units_of_sample(Samples.from_arrays(np.ones((5, 3))), 0)
    assert found.table.num_rows == 0
    assert "none stands out" in found.notes[0]


def test_a_failed_sample_says_so_and_others_go_on() -> None:
    samples = _samples()
    latents = samples.latents.copy()
    latents[3] = np.nan
    broken = Samples(samples.table, latents)
    with pytest.raises(AnalysisUnavailable, match="sample '3' has no finite latent vector"):
        units_of_sample(broken, 3)
    assert units_of_sample(broken, 7).notes == ("1 of 200 samples are left out: 1 without a finite latent vector.",)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"row": 200}, ConfigurationError, "one of 200 samples, but got row=200"),
        ({"row": 0, "top": 0}, ConfigurationError, "`top >= 1` must hold"),
        ({"row": 0, "gradient": np.ones(5)}, ConfigurationError, "one number for each of 6 units, but got float64"),
        ({"row": 0, "gradient": np.full(6, np.nan)}, ConfigurationError, "6 numbers that are not finite"),
        ({"row": 0, "gradient": np.zeros(6)}, AnalysisUnavailable, "no unit moves this score"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        units_of_sample(_samples(), **arguments)
