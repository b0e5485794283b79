"""Reductions: as saved, else from the statistics, else from the value; NaN never hides."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cutaway.errors import ConfigurationError, TensorUnavailableForStep
from cutaway.tensors import modes
from cutaway.tensors.reduction_config import NORMS, REDUCTIONS
from cutaway.tensors.statistics import reduce
from cutaway.trial import create_trial
from tests.unit.trial.conftest import Write

NAME = "Net_fc.weight"
ARRAY = np.array([[1.0, -2.0, 0.5], [3.0, 4.0, -6.0]], np.float32)
ALL = [(name, absolute) for name in (*REDUCTIONS, *NORMS) for absolute in (False, True)]


@pytest.mark.parametrize(("name", "absolute"), ALL)
def test_every_reduction_can_be_computed_from_a_saved_value(write: Write, name: str, absolute: bool) -> None:
    writing = write()
    writing.step(0, {NAME: ARRAY})
    found = create_trial(writing.run.path).tensor(NAME).reduction_value(0, name, abs=absolute)
    assert found == pytest.approx(reduce(ARRAY, name, abs=absolute))


@pytest.mark.parametrize(("name", "absolute"), [one for one in ALL if one[0] not in ("prod", "median")])
def test_statistics_answer_where_no_value_was_saved(write: Write, name: str, absolute: bool) -> None:
    writing = write()
    writing.step(0, seen={NAME: ARRAY}, mode="EVAL", mode_step=7)
    tensor = create_trial(writing.run.path).tensor(NAME)
    expected = pytest.approx(reduce(ARRAY, name, abs=absolute))
    assert tensor.reduction_value(0, name, abs=absolute) == expected
    assert tensor.reduction_value(7, name, modes.EVAL, None, absolute) == expected
    if absolute:
        assert tensor.reduction_value(0, f"abs_{name}") == expected


@pytest.mark.parametrize("name", ["prod", "median"])
def test_what_statistics_cannot_answer_is_refused(write: Write, name: str) -> None:
    writing = write()
    writing.step(0, seen={NAME: ARRAY})
    with pytest.raises(TensorUnavailableForStep) as caught:
        create_trial(writing.run.path).tensor(NAME).reduction_value(0, name)
    assert caught.value.has_reductions


def test_a_saved_reduction_comes_first(write: Write) -> None:
    writing = write()
    writing.tensors(0, {NAME: ARRAY}, reductions={NAME: {"mean": 123.0, "abs_median": 4.5}})
    writing.statistics(0, {NAME: ARRAY})
    writing.listed(0)
    tensor = create_trial(writing.run.path).tensor(NAME)
    assert tensor.reduction_value(0, "mean") == 123.0
    assert tensor.reduction_value(0, "median", abs=True) == 4.5
    assert tensor.reduction_value(0, "max") == 4.0


def test_saved_reductions_and_those_of_the_statistics_are_listed_together(write: Write) -> None:
    writing = write()
    writing.tensors(0, {NAME: ARRAY}, reductions={NAME: {"mean": 123.0, "abs_median": 4.5}}, raw=False)
    writing.listed(0)
    writing.tensors(1, {NAME: ARRAY}, reductions={NAME: {"mean": 123.0}}, raw=False)
    writing.step(1, seen={NAME: ARRAY})
    tensor = create_trial(writing.run.path).tensor(NAME)
    assert tensor.reduction_values(0) == {("mean", False): 123.0, ("median", True): 4.5}
    found = tensor.reduction_values(1)
    assert found["mean", False] == 123.0
    assert found["max", True] == 6.0
    assert ("prod", False) not in found


def test_a_nonfinite_value_shows_in_every_reduction_unless_the_finite_ones_are_asked_for(write: Write) -> None:
    broken = np.array([1.0, np.nan, -3.0, np.inf], np.float32)
    writing = write()
    writing.step(0, seen={NAME: broken})
    writing.step(1, {NAME: broken})
    writing.tensors(2, {NAME: broken}, reductions={NAME: {"min": math.nan, "max": 1.0}}, raw=False)
    writing.listed(2)
    tensor = create_trial(writing.run.path).tensor(NAME)
    for name in ("mean", "min", "max", "l1", "l2", "std"):
        assert math.isnan(tensor.reduction_value(0, name)), name
        assert math.isnan(tensor.reduction_value(1, name)), name
    for step in (0, 1):
        assert tensor.reduction_value(step, "mean", finite=True) == -1.0
        assert tensor.reduction_value(step, "max", abs=True, finite=True) == 3.0
    assert math.isnan(tensor.reduction_value(2, "min"))
    assert tensor.reduction_value(2, "max", finite=True) == 1.0
    with pytest.raises(TensorUnavailableForStep):
        tensor.reduction_value(2, "min", finite=True)


def test_a_reduction_that_does_not_exist_is_refused_with_the_nearest(write: Write) -> None:
    writing = write()
    writing.step(0, {NAME: ARRAY})
    with pytest.raises(ConfigurationError, match="Did you mean 'mean'"):
        create_trial(writing.run.path).tensor(NAME).reduction_value(0, "meen")


def test_a_window_of_statistics_has_its_columns_in_step_order(write: Write) -> None:
    writing = write()
    for step in range(10):
        writing.step(step, seen={NAME: ARRAY * step, "other": ARRAY})
    trial = create_trial(writing.run.path)
    window = trial.statistics_window(NAME, 3, 6)
    assert window["step"].tolist() == [3, 4, 5]
    assert window["max"].tolist() == [12.0, 16.0, 20.0]
    assert set(window) == {
        *("step", "size", "nonfinite", "zeros", "min", "max", "mean", "std", "l1", "l2", "abs_min", "change"),
    }
    assert np.isnan(window["change"]).all()
    assert trial.statistics_window(NAME, 50, 60)["step"].tolist() == []
