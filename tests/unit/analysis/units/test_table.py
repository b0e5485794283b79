from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.analysis.samples import Samples
from cutaway.analysis.units import table, unit_table
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.evaluation.progress import Progress


def _samples(seed: int = 0) -> Samples:
    """300 samples of 3 classes: unit 0 serves class b, 1 is noise, 2 dead, 3 constant, 4 always on."""
    rng = np.random.default_rng(seed)
    labels = np.array(list("abc") * 100)
    latents = np.maximum(rng.normal(size=(300, 5)), 0)
    latents[:, 0] += 3 * (labels == "b")
    latents[:, 2], latents[:, 3] = 0, 0.7
    latents[:, 4] = rng.uniform(1, 2, 300)
    return Samples.from_arrays(latents, labels)


def test_each_unit_says_what_state_it_is_in() -> None:
    found = unit_table(_samples())
    assert found.units["state"].to_pylist() == ["varies", "varies", "dead", "constant", "always on"]
    assert found.units["active"].to_pylist()[2:] == [0, 1, 1]
    assert found.units["active"].to_pylist()[1] == pytest.approx((_samples().latents[:, 1] > 0).mean())
    assert found.units["std"].to_pylist()[2:4] == [0, 0]
    assert found.units["mean"].to_pylist()[3] == pytest.approx(0.7)
    assert found.words() == "5 units over 300 samples: 1 dead, 1 constant, 1 always on, 1 serve a class"
    assert found.notes == ()


def test_drivers_are_the_samples_with_the_highest_values() -> None:
    samples = _samples()
    found = unit_table(samples, top=4).drivers
    assert found["unit"].to_pylist() == [0] * 4 + [1] * 4 + [4] * 4
    assert found["rank"].to_pylist() == [1, 2, 3, 4] * 3
    order = np.argsort(-samples.latents[:, 1])[:4]
    own = found.slice(4, 4)
    assert own["sample"].to_pylist() == [samples.ids[row] for row in order]
    assert own["value"].to_pylist() == samples.latents[order, 1].tolist()
    assert found.slice(0, 4)["label"].to_pylist() == ["b"] * 4


def test_a_unit_serves_the_class_whose_samples_drive_it_and_noise_serves_none() -> None:
    found = unit_table(_samples())
    assert found.units["serves"].to_pylist() == [1, 0, 0, 0, 0]
    best = found.classes.to_pylist()[0]
    assert (best["unit"], best["class"], best["count"], best["serves"]) == (0, "b", 100, True)
    assert best["auc"] > 0.95
    assert best["mean"] - best["rest"] == pytest.approx(3, abs=0.3)
    assert {row["unit"] for row in found.classes.to_pylist()} <= {0, 1, 4}


def test_samples_without_labels_are_compared_by_prediction_or_not_at_all() -> None:
    latents = _samples().latents
    predicted = Samples.from_arrays(latents, probabilities=np.eye(3)[[0, 1, 2] * 100])
    found = unit_table(predicted)
    assert "the model predicts" in found.notes[0]
    assert found.classes["class"].to_pylist()[0] == "1"
    bare = unit_table(Samples.from_arrays(latents))
    assert "no classes" in bare.notes[0]
    assert bare.classes.num_rows == 0
    assert bare.units["serves"].null_count == 5
    assert "serve a class" not in bare.words()


def test_one_class_has_nothing_to_be_compared_with() -> None:
    found = unit_table(Samples.from_arrays(_samples().latents, ["a"] * 300))
    assert found.classes.num_rows == 0
    assert "fewer than two classes" in found.notes[0]
    assert found.drivers.num_rows == 30


def test_rows_that_are_not_finite_are_left_out_and_said() -> None:
    samples = _samples()
    latents = samples.latents.copy()
    latents[10], latents[11, 0] = np.nan, np.inf
    found = unit_table(Samples(samples.table, latents))
    assert found.count == 298
    assert found.notes == ("2 of 300 samples are left out: 2 without a finite latent vector.",)
    assert not {"10", "11"} & set(found.drivers["sample"].to_pylist())
    good = np.delete(np.arange(300), [10, 11])
    assert found.units.equals(unit_table(samples.take(good)).units)


def test_one_sample_has_constant_units_only() -> None:
    found = unit_table(Samples.from_arrays(np.array([[0.0, 2.0]]), ["a"]))
    assert found.units["state"].to_pylist() == ["dead", "constant"]
    assert found.drivers.num_rows == 0


def test_small_blocks_change_nothing_and_progress_counts_units(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = unit_table(_samples())
    monkeypatch.setattr(table, "MOST_NUMBERS", 601)
    told: list[Progress] = []
    found = unit_table(_samples(), progress=told.append)
    assert (found.units, found.drivers, found.classes) == (whole.units, whole.drivers, whole.classes)
    assert (told[-1].done, told[-1].total, told[-1].unit) == (5, 5, "units")


def test_ten_thousand_classes_fit() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10_000, 40_000)
    labels[:50] = 3
    latents = rng.normal(size=(40_000, 2)).astype(np.float32)
    latents[labels == 3, 1] += 4
    found = unit_table(Samples.from_arrays(latents, labels))
    assert found.units["serves"].to_pylist() == [0, 1]
    assert found.classes.filter(found.classes["serves"])["class"].to_pylist() == ["3"]


@given(st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=1, max_size=30), st.integers(1, 5))
def test_drivers_never_lie_below_what_they_leave_out(rows: list[list[int]], top: int) -> None:
    latents = np.array(rows, np.float32)
    found = unit_table(Samples.from_arrays(latents), top=top).drivers.to_pylist()
    for unit in range(2):
        values = [row["value"] for row in found if row["unit"] == unit]
        if len(set(latents[:, unit].tolist())) == 1:
            assert values == []
            continue
        assert values == sorted(latents[:, unit].tolist(), reverse=True)[:top]
        # Of equal ones the first.
        own = [int(row["sample"]) for row in found if row["unit"] == unit]
        assert own == sorted(range(len(rows)), key=lambda row: (-latents[row, unit], row))[:top]


@pytest.mark.parametrize(
    ("latents", "arguments", "error", "message"),
    [
        (np.zeros((3, 0)), {}, AnalysisUnavailable, "the latent space has no units"),
        (np.full((3, 2), np.nan), {}, AnalysisUnavailable, "none of 3 samples has a finite latent vector"),
        (np.zeros((0, 2)), {}, AnalysisUnavailable, "none of 0 samples"),
        (np.zeros((3, 2)), {"top": 0}, ConfigurationError, "`top >= 1` must hold, but got top=0"),
    ],
)
def test_what_cannot_be_looked_at_says_why(latents: Any, arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        unit_table(Samples.from_arrays(latents), **arguments)
