"""The scalar that is differentiated: against torch's own losses, and against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from cutaway.arrays import Array
from cutaway.dataset.losses import default_losses
from cutaway.errors import ConfigurationError, GradientUnavailable
from cutaway.frameworks.torch.scores import summed_score
from cutaway.models.backend import LOSSES, Question


def score(
    output: torch.Tensor,
    axis: int | None = -1,
    *,
    loss: str | None = None,
    labels: Array | None = None,
    target: Array | None = None,
) -> torch.Tensor:
    return summed_score(output, Question("output", "x", target=target, loss=loss, labels=labels), axis)


def test_a_score_is_the_target_class_of_each_sample() -> None:
    output = torch.tensor([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    assert score(output, target=np.array([0, 2])).item() == 33.0


def test_without_a_target_it_is_the_largest_class() -> None:
    output = torch.tensor([[1.0, 2.0, 4.0], [8.0, 64.0, 32.0]])
    assert score(output).item() == 68.0


def test_outputs_with_more_axes_are_summed_over_them() -> None:
    output = torch.arange(24.0).reshape(2, 3, 4)
    assert score(output, axis=1, target=np.array([1, 1])).item() == output[:, 1].sum().item()
    assert score(output, axis=1).item() == output[:, 2].sum().item()


@pytest.mark.parametrize(
    ("shape", "axis"), [((4,), -1), ((4, 1), -1), ((4, 3), None), ((4, 3, 2), None), ((4, 1, 5), 1)]
)
def test_an_output_without_classes_is_summed_whole(shape: tuple[int, ...], axis: int | None) -> None:
    output = torch.randn(shape)
    assert torch.equal(score(output, axis), output.sum())


@pytest.mark.parametrize("target", [-1, 3])
def test_a_target_outside_the_classes_is_named(target: int) -> None:
    with pytest.raises(ConfigurationError, match=f"has 3 classes, but `target` asks for {target}"):
        score(torch.zeros(2, 3), target=np.array([0, target]))


def test_whole_numbers_have_no_gradient() -> None:
    with pytest.raises(GradientUnavailable, match="int64"):
        score(torch.zeros(2, 3, dtype=torch.int64))


@pytest.mark.parametrize("shape", [(5, 4), (5, 2, 3), (5,)])
def test_errors_are_means_over_each_sample(shape: tuple[int, ...]) -> None:
    output, labels = torch.randn(shape, dtype=torch.float64), torch.randn(shape, dtype=torch.float64)
    squared = score(output, loss="MeanSquaredError", labels=labels.numpy())
    absolute = score(output, loss="MeanAbsoluteError", labels=labels.numpy())
    assert squared.item() == pytest.approx(5 * functional.mse_loss(output, labels).item())
    assert absolute.item() == pytest.approx(5 * functional.l1_loss(output, labels).item())


@pytest.mark.parametrize("axis", [1, -1])
@pytest.mark.parametrize("inner", [(), (6,), (2, 3)])
def test_crossentropy_is_that_of_torch_for_indices_and_for_one_hot_labels(axis: int, inner: tuple[int, ...]) -> None:
    logits = torch.randn(5, 4, *inner, dtype=torch.float64)
    indices = torch.randint(0, 4, (5, *inner))
    places = int(np.prod(inner))
    wanted = functional.cross_entropy(logits, indices, reduction="sum").item() / places
    output = logits.movedim(1, axis)
    one_hot = functional.one_hot(indices, 4).movedim(-1, axis)
    for labels in (indices.numpy(), one_hot.numpy(), indices.unsqueeze(axis).numpy()):
        from_logits = score(output, axis, loss="CategoricalCrossentropyFromLogits", labels=labels)
        assert from_logits.item() == pytest.approx(wanted)
        likely = score(output.softmax(dim=axis), axis, loss="CategoricalCrossentropy", labels=labels)
        assert likely.item() == pytest.approx(wanted, rel=1e-5)


def test_probabilities_are_renormalised_and_kept_from_zero() -> None:
    output = torch.tensor([[2.0, 2.0], [0.0, 1.0]], dtype=torch.float64)
    got = score(output, loss="CategoricalCrossentropy", labels=np.array([0, 0]))
    assert got.item() == pytest.approx(-np.log(0.5) - np.log(1e-7))


def test_binary_crossentropy_is_summed_over_the_outputs_of_a_sample() -> None:
    logits = torch.randn(5, 3, dtype=torch.float64)
    labels = torch.randint(0, 2, (5, 3))
    wanted = functional.binary_cross_entropy_with_logits(logits, labels.double(), reduction="sum").item()
    assert score(logits, loss="BinaryCrossentropyFromLogits", labels=labels.numpy()).item() == pytest.approx(wanted)
    likely = score(logits.sigmoid(), loss="BinaryCrossentropy", labels=labels.numpy())
    assert likely.item() == pytest.approx(wanted, rel=1e-5)


def test_certain_and_wrong_stays_finite() -> None:
    wrong = score(torch.tensor([0.0, 1.0]), loss="BinaryCrossentropy", labels=np.array([1, 0]))
    assert wrong.item() == pytest.approx(-2 * np.log(1e-7), rel=0.02)  # 1 - 1e-7 has few digits in float32
    far = score(torch.tensor([[900.0]]), loss="BinaryCrossentropyFromLogits", labels=np.array([0]))
    assert far.item() == 900.0


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_has_a_gradient_and_takes_half_precision(loss: str) -> None:
    output = torch.rand(4, 3, dtype=torch.float16, requires_grad=True)
    labels = np.array([0, 1, 2, 0]) if loss.startswith("Categorical") else np.ones((4, 3))
    value = score(output, loss=loss, labels=labels)
    (gradient,) = torch.autograd.grad(value, output)
    assert torch.isfinite(gradient).all()
    assert gradient.abs().max() > 0


@pytest.mark.parametrize("loss", LOSSES)
def test_labels_of_another_shape_are_refused(loss: str) -> None:
    with pytest.raises(ConfigurationError, match="labels"):
        score(torch.rand(4, 3), loss=loss, labels=np.zeros((4, 2)))
    with pytest.raises(ConfigurationError, match="labels"):
        score(torch.rand(4, 3), loss=loss)


def test_labels_may_be_a_turned_view() -> None:
    labels = np.array([2, 1, 0])[::-1]
    output = torch.eye(3)
    straight = score(output, loss="CategoricalCrossentropyFromLogits", labels=labels.copy())
    assert torch.equal(score(output, loss="CategoricalCrossentropyFromLogits", labels=labels), straight)


def test_class_indices_outside_the_classes_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="from 0 to 3, of 3 classes"):
        score(torch.rand(2, 3), loss="CategoricalCrossentropy", labels=np.array([0, 3]))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", [(6, 4), (6, 4, 5), (6, 4, 2, 3)])
@pytest.mark.parametrize("axis", [1, -1])
def test_losses_are_those_of_the_data_set_in_numpy(loss: str, shape: tuple[int, ...], axis: int) -> None:
    random = np.random.default_rng(3)
    output = np.moveaxis(random.uniform(-2, 2, shape), 1, axis)
    if not loss.endswith("FromLogits") and "Error" not in loss:
        output = np.abs(output) / np.abs(output).sum(axis=axis, keepdims=True)
    indices = random.integers(0, 4, (6, *shape[2:]))
    one_hot = np.moveaxis(np.eye(4)[indices], -1, axis)
    twin = next(one for one in default_losses(axis) if one.name == loss)
    for labels in [one_hot, indices] if loss.startswith("Categorical") else [one_hot]:
        wanted = twin.function(labels, output).sum()
        assert score(torch.tensor(output), axis, loss=loss, labels=labels).item() == pytest.approx(wanted, rel=1e-5)
