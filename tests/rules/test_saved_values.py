"""Full values for rules."""

import numpy as np
import pytest

from cutaway.errors import RunDamaged
from cutaway.rules.selecting import saved_places, value_at
from cutaway.testing.rules import ScriptedRun


def run_saved_at(*steps: int) -> ScriptedRun:
    run = ScriptedRun()
    for step in range(5):
        run.step(tensors={"fc.weight": [float(step)]}, save=step in steps)
    return run


def test_places_are_those_of_saved_steps() -> None:
    assert saved_places(run_saved_at(1, 4), np.array([0, 1, 3, 4])) == [1, 3]
    assert saved_places(run_saved_at(), np.array([0, 1])) == []


def test_a_value_that_was_not_saved_is_none() -> None:
    run = run_saved_at(1)
    assert np.array_equal(value_at(run, "fc.weight", 1), [1.0])
    assert value_at(run, "fc.weight", 2) is None
    assert value_at(run, "another", 1) is None
    assert value_at(run, "fc.weight", 99) is None


def test_a_damaged_value_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_saved_at(1)

    def damaged(tensor: str, step: int) -> None:
        raise RunDamaged("trace/tensors/x.arrow", 0, "bytes fail their checksum")

    monkeypatch.setattr(run, "value", damaged)
    assert value_at(run, "fc.weight", 1) is None
