"""VanishingGradient."""

import numpy as np
import pytest

from cutaway.errors import ConfigurationError
from cutaway.rules.built_in.vanishing_gradient import VanishingGradient
from cutaway.testing.rules import RuleContract, ScriptedRun, findings

GRADIENT = "gradient/fc.weight"


def run_with(sizes: list[float]) -> ScriptedRun:
    run = ScriptedRun()
    for i, size in enumerate(sizes):
        run.step(tensors={GRADIENT: np.array([size, -size]), "fc.weight": np.ones(2)}, samples=[f"training/{i}"])
    return run


class TestVanishingGradient(RuleContract):
    rule = VanishingGradient

    def sick(self) -> tuple[ScriptedRun, int]:
        return run_with([1e-3] * 30 + [1e-9] * 30), 30

    def healthy(self) -> ScriptedRun:
        return run_with([1e-3] * 30 + [2e-7] * 30)

    def test_its_evidence_names_tensor_value_and_samples(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.where == {"step": 30, "mode": "TRAIN", "tensor": GRADIENT}
        assert found.evidence["value"] == pytest.approx(1e-9)
        assert found.evidence["samples"] == ["training/30"]


def test_a_threshold_must_be_positive() -> None:
    with pytest.raises(ConfigurationError, match="`threshold > 0` must hold"):
        VanishingGradient(threshold=0)


def test_a_gradient_that_exploded_has_not_vanished() -> None:
    run = ScriptedRun()
    run.step(tensors={GRADIENT: np.array([np.nan, 0.0])})
    assert findings(VanishingGradient(), run) == []


def test_a_bias_is_judged_by_the_weight_of_its_layer() -> None:
    """Before a batch normalisation the gradient of a bias is nothing but rounding."""
    run = ScriptedRun()
    run.step(tensors={GRADIENT: [1e-3], "gradient/fc.bias": [1e-9], "gradient/scale.bias": [1e-9]})
    (found,) = findings(VanishingGradient(), run)
    assert found.where["tensor"] == "gradient/scale.bias"
    assert "count" not in found.evidence
