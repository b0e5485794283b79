"""Overtraining."""

import pytest

from cutaway.errors import ConfigurationError
from cutaway.rules.built_in.overtraining import Overtraining
from cutaway.testing.rules import RuleContract, ScriptedRun, findings
from tests.rules.test_overfit import epochs, last_step

# The training loss improves up to epoch 6, the validation loss up to epoch 4.
TRAINING = [1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, *[0.195] * 13]
VALIDATION = [1.0, 0.8, 0.7, 0.65, 0.6, *[0.605, 0.6, 0.61] * 5]


class TestOvertraining(RuleContract):
    rule = Overtraining

    def sick(self) -> tuple[ScriptedRun, int]:
        return epochs(TRAINING, VALIDATION), last_step(14)

    def healthy(self) -> ScriptedRun:
        # The validation loss still improves now and then.
        return epochs(TRAINING, [*VALIDATION[:13], 0.58, *VALIDATION[14:]])

    def test_its_evidence_has_the_best_of_both(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.evidence["value"] == found.evidence["threshold"] == 10
        assert found.evidence["training_best"] == pytest.approx(0.2)
        assert found.evidence["training_rounds"] == 8
        assert found.evidence["validation_best"] == pytest.approx(0.6)
        assert found.evidence["validation_best_step"] == last_step(4)


class TestParameters:
    @pytest.mark.parametrize(
        ("arguments", "epoch"),
        [
            ({"patience_validation": 4}, 11),  # then the training loss decides
            ({"patience_validation": 4, "patience_train": 2}, 8),
            ({"patience_train": 12}, 18),
            ({"delta": 0.15}, 13),  # the validation loss then improves last in epoch 3, at 0.65 after 0.8 of epoch 1
        ],
    )
    def test_each_moves_the_step(self, arguments: dict[str, float], epoch: int) -> None:
        found = findings(Overtraining(**arguments), epochs(TRAINING, VALIDATION))  # type: ignore[arg-type]
        assert [one.where["step"] for one in found] == [last_step(epoch)]

    @pytest.mark.parametrize("name", ["patience_train", "patience_validation"])
    def test_a_patience_must_be_a_round_at_least(self, name: str) -> None:
        with pytest.raises(ConfigurationError, match=f"`{name} >= 1` must hold"):
            Overtraining(**{name: 0})  # type: ignore[arg-type]

    def test_delta_must_not_be_negative(self) -> None:
        with pytest.raises(ConfigurationError, match="`delta >= 0` must hold"):
            Overtraining(delta=-0.1)


def test_both_losses_must_have_stopped() -> None:
    falling = [1.0 - 0.04 * i for i in range(20)]
    assert findings(Overtraining(), epochs(TRAINING, falling)) == []
    assert findings(Overtraining(), epochs(falling, VALIDATION)) == []


def test_losses_that_are_never_finite_do_not_improve() -> None:
    assert findings(Overtraining(), epochs(TRAINING, [float("nan")] * 20)) != []
