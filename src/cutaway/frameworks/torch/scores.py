"""The number that a gradient is taken of: a class score or a named loss of each sample, summed over the samples.

The formulas of the losses are those of `cutaway.dataset.losses`, here on torch so that autograd can follow them.
"""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional

from cutaway.errors import GradientUnavailable
from cutaway.frameworks.torch import answers
from cutaway.models.backend import Gradient, Question
from cutaway.models.batches import checked_question

__all__ = ["differentiable_copy", "gradient_of_score", "summed_score"]

_SMALLEST = 1e-7  # what probabilities are kept away from 0 and 1 by, as in Keras


def summed_score(output: torch.Tensor, question: Question, channel_axis: int | None) -> torch.Tensor:
    """Return the sum over samples of the scalar that `Question` defines, of one output of a model.

    `channel_axis` is the class axis of that output; where it is None, losses over classes take the last axis.
    """
    if not output.is_floating_point():
        dtype = str(output.dtype).removeprefix("torch.")
        raise GradientUnavailable(f"Output {question.output!r} is {dtype}: only floating-point numbers have gradients.")
    if output.dtype in (torch.float16, torch.bfloat16):
        output = output.float()
    question = checked_question(question, tuple(output.shape), channel_axis)
    if question.loss is None:
        return _class_scores(output, question, channel_axis).sum()
    labels = torch.tensor(np.ascontiguousarray(question.labels), device=output.device).to(output.dtype)
    if question.loss.startswith("Categorical"):
        axis = -1 if channel_axis is None else channel_axis
        return _crossentropy(output, labels, axis, logits=question.loss.endswith("FromLogits"))
    return _elementwise(output, labels, question.loss)


def differentiable_copy(tensor: torch.Tensor, name: str) -> torch.Tensor:
    """Return a copy of an input or of a layer's value at which autograd begins."""
    if not tensor.is_floating_point():
        raise GradientUnavailable(
            f"{name!r} holds {answers.dtype_name(tensor)}: only floating-point numbers have gradients.",
            hint="Ask for one by a layer behind it, such as the embedding.",
        )
    return tensor.detach().clone().requires_grad_()


def gradient_of_score(score: torch.Tensor, source: torch.Tensor, question: Question) -> Gradient:
    """Return the gradient of a score by what it was computed from, and the value of that."""
    gradient = None
    if score.requires_grad:
        (gradient,) = torch.autograd.grad(score, source, allow_unused=True)
    if gradient is None:
        raise GradientUnavailable(f"Output {question.output!r} does not depend on {question.wrt!r} by a gradient.")
    return Gradient(answers.as_array(gradient), answers.as_array(source))


def _class_scores(output: torch.Tensor, question: Question, channel_axis: int | None) -> torch.Tensor:
    if output.dim() < 2 or channel_axis is None or output.shape[channel_axis] == 1:
        return output
    classes = output.movedim(channel_axis, 1)
    scores = classes if classes.dim() == 2 else classes.reshape(*classes.shape[:2], -1).sum(dim=2)
    if question.target is None:
        return scores.max(dim=1).values
    target = np.asarray(question.target, np.int64)
    return scores.gather(1, torch.tensor(target[:, None], device=output.device))


def _elementwise(output: torch.Tensor, labels: torch.Tensor, loss: str) -> torch.Tensor:
    per_sample = max(output.numel() // max(len(output), 1), 1)
    if loss == "MeanSquaredError":
        return (output - labels).square().sum() / per_sample
    if loss == "MeanAbsoluteError":
        return (output - labels).abs().sum() / per_sample
    if loss == "BinaryCrossentropyFromLogits":
        return functional.binary_cross_entropy_with_logits(output, labels, reduction="sum")
    likely = output.clamp(_SMALLEST, 1 - _SMALLEST)
    return -(labels * likely.log() + (1 - labels) * (1 - likely).log()).sum()


def _crossentropy(output: torch.Tensor, truth: torch.Tensor, axis: int, *, logits: bool) -> torch.Tensor:
    classes = output.movedim(axis, -1)
    if logits:
        log_likely = classes.log_softmax(dim=-1)
    else:
        likely = classes / classes.sum(dim=-1, keepdim=True)
        log_likely = likely.clamp(_SMALLEST, 1 - _SMALLEST).log()
    places = max(classes[..., 0].numel() // max(len(classes), 1), 1)
    return -(truth * log_likely).sum() / places
