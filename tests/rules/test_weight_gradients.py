"""Which weights are trained, and at which steps: also under mixed precision."""

import numpy as np

from cutaway.rules.built_in.unchanged_tensor import UnchangedTensor
from cutaway.rules.built_in.weight_update_ratio import WeightUpdateRatio
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import has_gradient
from cutaway.testing.rules import ScriptedRun, findings


def run_with(*, scaled: bool, overflow: float) -> ScriptedRun:
    """Two weights that stand still for the first six steps, at which the gradient of one of them is not finite."""
    run = ScriptedRun()
    for step in range(12):
        bad = overflow if step < 6 else 1.0
        size = 1.0 if step <= 6 else 1.0 + step
        tensors = {
            "a.weight": [size, size],
            "b.weight": [size],
            "gradient/a.weight": [1.0, bad],
            "gradient/b.weight": [1.0],
        }
        run.step(tensors=tensors, scalars={"gradient_scale": 65536.0} if scaled else {})
    return run


def fired(rule: Rule, run: ScriptedRun) -> list[int]:
    return [one.where["step"] for one in findings(rule, run)]


def test_an_update_that_the_scaler_skipped_is_none_for_any_weight() -> None:
    run = run_with(scaled=True, overflow=np.inf)
    (block,) = run.statistics_blocks(["a.weight", "b.weight"], 0, 12)
    assert has_gradient(run, block).tolist() == [[False] * 6 + [True] * 6] * 2
    assert fired(WeightUpdateRatio(), run) == []
    assert fired(UnchangedTensor(), run) == []


def test_without_a_scaler_weights_that_stand_still_are_sick() -> None:
    run = run_with(scaled=False, overflow=1.0)
    assert fired(WeightUpdateRatio(), run) == [1]
    assert fired(UnchangedTensor(), run) == [2]


def test_with_a_scaler_and_finite_gradients_too() -> None:
    run = run_with(scaled=True, overflow=1.0)
    assert fired(WeightUpdateRatio(), run) == [1]
    assert fired(UnchangedTensor(), run) == [2]
