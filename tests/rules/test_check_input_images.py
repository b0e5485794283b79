"""CheckInputImages."""

import numpy as np
import numpy.typing as npt
import pytest

from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation
from cutaway.rules.built_in.check_input_images import CheckInputImages
from cutaway.testing.rules import RuleContract, ScriptedRun, findings

INPUT, WEIGHT = "Net_input_0", "Net_conv.weight"


def images(means: list[float], count: int = 50, steps: int = 20, every: int = 1, name: str = INPUT) -> ScriptedRun:
    """Batches of images with the given mean in each channel, saved in full at every so many steps."""
    run, chance = ScriptedRun(), np.random.default_rng(0)
    noise = chance.normal(0, 1, (count, len(means), 4, 4))
    noise -= noise.mean(axis=(0, 2, 3), keepdims=True)
    batch = (noise + np.reshape(means, (1, -1, 1, 1))).astype(np.float32)
    for step in range(steps):
        run.step(tensors={name: batch, WEIGHT: np.ones(2)}, save=step % every == 0)
    return run


class TestCheckInputImages(RuleContract):
    rule = CheckInputImages

    def sick(self) -> tuple[ScriptedRun, int]:
        # 50 images a step: the 500th is in step 9.
        return images([0.0, 0.1, -0.3]), 9

    def healthy(self) -> ScriptedRun:
        return images([0.0, 0.1, -0.19])


def test_it_names_the_channel_that_is_worst() -> None:
    (found,) = findings(CheckInputImages(), images([0.0, 0.25, -0.5]))
    assert found.where["tensor"] == INPUT
    assert found.message == (
        "The images in Net_input_0 are not centred: over 500 images up to step 9 the mean of channel 2 of 3 is -0.5, "
        "further from 0 than 0.2."
    )
    assert found.evidence["value"] == pytest.approx(-0.5, abs=1e-6)
    assert found.evidence["means"] == pytest.approx([0.0, 0.25, -0.5], abs=1e-6)


def test_images_of_one_channel_are_judged_by_their_statistics_once_a_step_was_saved() -> None:
    (found,) = findings(CheckInputImages(), images([0.3], every=100))
    assert found.where["step"] == 9
    assert found.evidence["images"] == 500
    assert "the mean of the only channel is 0.3" in found.message


def test_images_of_more_channels_count_at_saved_steps_only() -> None:
    (found,) = findings(CheckInputImages(), images([0.3, 0.0], steps=40, every=3))
    assert found.where["step"] == 27  # the tenth that was saved


def test_without_a_saved_step_nothing_is_known_to_be_an_image() -> None:
    run = ScriptedRun()
    for _ in range(20):
        run.step(tensors={INPUT: np.ones((50, 1, 4, 4)), WEIGHT: np.ones(2)})
    with pytest.raises(InsufficientInformationForRuleInvocation, match="collection 'inputs' in full"):
        findings(CheckInputImages(), run)


@pytest.mark.parametrize("batch", [np.full((600, 8), 5.0), np.full((600, 30), 1_000)])
def test_tables_and_tokens_are_not_images(batch: npt.NDArray[np.generic]) -> None:
    run = ScriptedRun()
    run.step(tensors={INPUT: batch, WEIGHT: np.ones(2)}, save=True)
    with pytest.raises(InsufficientInformationForRuleInvocation, match="needs inputs that are images"):
        findings(CheckInputImages(), run)


def test_only_what_the_model_itself_receives_counts() -> None:
    run = ScriptedRun()
    for _ in range(20):
        centred, shifted = np.zeros((50, 2, 4, 4)), np.ones((50, 2, 4, 4))
        run.step(tensors={INPUT: centred, "relu_input_0": shifted, WEIGHT: np.ones(2)}, save=True)
    assert findings(CheckInputImages(), run) == []
    (found,) = findings(CheckInputImages(regex="relu_input"), run)
    assert found.where["tensor"] == "relu_input_0"


def test_the_axis_of_the_channels_can_be_chosen() -> None:
    run, batch = ScriptedRun(), np.zeros((50, 4, 4, 3))
    batch[..., 2] = 1.0
    for _ in range(20):
        run.step(tensors={INPUT: batch, WEIGHT: np.ones(2)}, save=True)
    assert len(findings(CheckInputImages(channel=3, threshold_mean=0.5), run)) == 1
    assert findings(CheckInputImages(channel=1, threshold_mean=0.5), run) == []


@pytest.mark.parametrize(("samples", "first"), [(1, 0), (50, 0), (51, 1), (500, 9)])
def test_it_waits_for_as_many_images_as_asked(samples: int, first: int) -> None:
    (found,) = findings(CheckInputImages(threshold_samples=samples), images([0.3, 0.0]))
    assert found.where["step"] == first


def test_the_bound_is_not_itself_too_far() -> None:
    run = ScriptedRun()
    run.step(tensors={INPUT: np.full((500, 1, 2, 2), 0.25), WEIGHT: np.ones(2)}, save=True)
    assert findings(CheckInputImages(threshold_mean=0.25), run) == []
    assert len(findings(CheckInputImages(threshold_mean=0.24), run)) == 1


@pytest.mark.parametrize("argument", [{"threshold_mean": -1}, {"threshold_samples": 0}, {"channel": 0}, {"regex": "("}])
def test_impossible_arguments_are_refused(argument: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(argument))):
        CheckInputImages(**argument)  # type: ignore[arg-type]
