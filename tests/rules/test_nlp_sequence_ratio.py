"""NLPSequenceRatio."""

import numpy as np
import numpy.typing as npt
import pytest

from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation
from cutaway.rules.built_in.nlp_sequence_ratio import NLPSequenceRatio
from cutaway.testing.rules import RuleContract, ScriptedRun, findings

INPUT = "embedding_input_0"


def tokens(zeros: list[int], every: int = 1, token: int = 0) -> ScriptedRun:
    """Sequences of 100 tokens a step, so many of them padding."""
    run = ScriptedRun()
    for step, count in enumerate(zeros):
        sequence = np.where(np.arange(100) < count, token, 7).reshape(4, 25)
        run.step(tensors={INPUT: sequence}, save=step % every == 0)
    return run


class TestNLPSequenceRatio(RuleContract):
    rule = NLPSequenceRatio

    def sick(self) -> tuple[ScriptedRun, int]:
        return tokens([30] * 10 + [51] * 10), 10

    def healthy(self) -> ScriptedRun:
        return tokens([30] * 10 + [50] * 10)


def test_its_message_names_token_and_share() -> None:
    (found,) = findings(NLPSequenceRatio(), tokens([30, 80]))
    assert found.message == "80% of embedding_input_0 at step 1 is token 0, more than 50%."
    assert found.where["tensor"] == INPUT
    assert (found.evidence["token"], found.evidence["threshold"]) == (0, 50)
    assert found.evidence["value"] == pytest.approx(80)


def test_padding_is_counted_at_every_step_once_one_was_saved() -> None:
    assert [one.where["step"] for one in findings(NLPSequenceRatio(), tokens([30] * 5 + [80] * 5, every=100))] == [5]


def test_other_tokens_are_counted_at_saved_steps() -> None:
    run = tokens([30] * 5 + [80] * 5, every=4, token=3)
    assert findings(NLPSequenceRatio(), run) == []
    (found,) = findings(NLPSequenceRatio(token_values="3", token_thresholds_percent="60"), run)
    assert found.where["step"] == 8
    assert found.evidence["token"] == 3


def test_each_token_has_its_own_threshold() -> None:
    run = ScriptedRun()
    run.step(tensors={INPUT: np.array([[0, 0, 0, 0, 1, 1, 5, 5, 5, 5]])}, save=True)
    assert findings(NLPSequenceRatio(token_values="0,1", token_thresholds_percent="40,20"), run) == []
    (found,) = findings(NLPSequenceRatio(token_values="0,1", token_thresholds_percent="40,10"), run)
    assert (found.evidence["token"], found.evidence["threshold"]) == (1, 10)


@pytest.mark.parametrize(
    "batch",
    [
        np.zeros((8, 1, 28, 28), np.float32),  # images
        np.zeros((8, 784), np.float32),
        np.zeros((8, 1, 28, 28), np.int64),
        np.zeros((8, 784), np.uint8),
        np.zeros((8, 20), bool),  # a mask
        np.zeros(8, np.int64),  # one number a sample
    ],
)
def test_what_is_not_tokens_is_left_alone(batch: npt.NDArray[np.generic]) -> None:
    run = ScriptedRun()
    run.step(tensors={INPUT: batch}, save=True)
    with pytest.raises(InsufficientInformationForRuleInvocation, match="needs inputs that are token sequences"):
        findings(NLPSequenceRatio(), run)


def test_statistics_alone_do_not_tell_what_tokens_are() -> None:
    run = ScriptedRun()
    run.step(tensors={INPUT: np.zeros((4, 25), np.int64)})
    with pytest.raises(InsufficientInformationForRuleInvocation, match="in full"):
        findings(NLPSequenceRatio(), run)


def test_a_regex_chooses_the_tensors() -> None:
    run = ScriptedRun()
    run.step(tensors={INPUT: np.zeros((4, 25), np.int64), "words": np.zeros((4, 25), np.int64)}, save=True)
    (found,) = findings(NLPSequenceRatio(tensor_regex="words"), run)
    assert found.where["tensor"] == "words"
    with pytest.raises(InsufficientInformationForRuleInvocation, match="'nothing'"):
        findings(NLPSequenceRatio(tensor_regex="nothing"), run)


@pytest.mark.parametrize(
    ("tokens_given", "limits", "said"),
    [
        ("0,1", "50", "one number for each of `token_values`"),
        ("", "", "one number for each of `token_values`"),
        ("a", "50", "`token_values` must be a whole number"),
        ("0", "101", "token_thresholds_percent"),
    ],
)
def test_impossible_arguments_are_refused(tokens_given: str, limits: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        NLPSequenceRatio(token_values=tokens_given, token_thresholds_percent=limits)
