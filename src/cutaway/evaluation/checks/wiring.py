"""Whether a data set and a model fit: every input, a real prediction, every output against labels and ground truths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset import Dataset
from cutaway.dataset.checks import class_of, has_several_labels
from cutaway.dataset.functions import Field
from cutaway.errors import BindingError, ModelError
from cutaway.evaluation.checks.batching import SmallBatch
from cutaway.evaluation.checks.looking import GROUND_TRUTH, Inspection
from cutaway.evaluation.checks.model_loading import MODEL
from cutaway.evaluation.checks.sheet import Sheet
from cutaway.evaluation.predicting import Predictor
from cutaway.evaluation.wiring import SampleShapes, Wiring, wire
from cutaway.models import Model

__all__ = ["MODEL_INPUT", "MODEL_OUTPUT", "judge_fit", "judge_outputs", "predict"]

MODEL_INPUT, MODEL_OUTPUT = "model input", "model output"
# Fewer answers than this say nothing about how often a model is right.
ENOUGH = 20
# The time limit is meant for encoders; a large model may take longer over its first batch.
MODEL_SECONDS = 60.0
Predictions = Mapping[str, Array]


def judge_fit(sheet: Sheet, dataset: Dataset, model: Model, batches: Sequence[SmallBatch]) -> Wiring | None:
    """Pair the model's inputs with encoders and its outputs with ground truths; tell where they do not fit."""
    first = next((batch for batch in batches if batch.ground_truths), batches[0])
    shapes = SampleShapes(
        {name: values.shape[1:] for name, values in first.inputs.items()},
        {name: values.shape[1:] for name, values in first.ground_truths.items()},
    )
    # What functions are given is judged for each by itself: one that is wrong must not hide how the model fits.
    bare = replace(dataset, metrics=(), losses=(), visualizers=(), latent_spaces=())
    try:
        wiring = wire(bare, model.description, shapes, channels_last=model.channels_last)
    except BindingError as error:
        outputs = "prediction" in str(error) and "outputs" in str(error)
        kind, specs = (MODEL_OUTPUT, model.outputs) if outputs else (MODEL_INPUT, model.inputs)
        named = next((spec.name for spec in specs if repr(spec.name) in str(error)), specs[0].name)
        fix = (
            "Say how channels lie: `channel_dim` of the encoder, or `channels_last` where you load the model."
            if "channels" in str(error)
            else "Make the encoder's sample what the model was trained on, or check another model."
        )
        code = "model-output" if outputs else "model-input"
        sheet.find(code, "error", str(error).rstrip("."), fix, row=(kind, named))
        return None
    for spec in model.inputs:
        wired = wiring.inputs[spec.name]
        moved = f", channels {wired.move}" if wired.move else ""
        sheet.row(MODEL_INPUT, spec.name, dtype=spec.dtype, note=f"from {wired.encoder!r}{moved}")
    return wiring


def predict(
    inspection: Inspection, model: Model, name: str, wiring: Wiring, batches: Sequence[SmallBatch]
) -> list[Predictions]:
    """Send every batch through the model. Empty where one fails, which is told."""
    sheet, call = inspection.sheet, inspection.call
    limit = max(call.seconds, MODEL_SECONDS)
    predictor = Predictor(model, wiring, None)
    answers: list[Predictions] = []
    times: list[float] = []
    for batch in batches:
        outcome = call(lambda b=batch: model.predict(predictor.batch_of(b.inputs)), limit)  # type: ignore[misc]
        if outcome.late or outcome.error is not None:
            reason = str(outcome.error) if outcome.error is not None else f"no answer after {limit:g} s"
            fix = "Look at what the model takes; `channels_last` says how the channels of image batches lie."
            if not isinstance(outcome.error, (ModelError, type(None))):
                reason = f"{type(outcome.error).__name__}: {reason}"
            message = f"The model failed on {len(batch)} {batch.subset} samples: {reason.rstrip('.')}"
            sheet.find("model-predict", "error", message, fix, row=(MODEL, name), subset=batch.subset)
            return []
        answers.append(outcome.value)
        times.append(outcome.seconds / len(batch))
    # The first batch also warms the model up.
    sheet.row(MODEL, name, seconds=min(times))
    return answers


def judge_outputs(
    sheet: Sheet,
    dataset: Dataset,
    wiring: Wiring,
    batches: Sequence[SmallBatch],
    answers: Sequence[Predictions],
) -> None:
    """Tell of outputs that are not finite, do not fit their labels or their ground truth, or only guess."""
    _left_over(sheet, dataset, wiring)
    declared = {one.name: one for one in dataset.predictions}
    for output, prediction in wiring.predictions.items():
        row = (MODEL_OUTPUT, output)
        truth = wiring.ground_truths.get(prediction, "")
        compared = f" against {truth!r}" if truth else ""
        values = answers[0][output]
        sheet.row(*row, shape=values.shape[1:], dtype=str(values.dtype), note=f"{prediction!r}{compared}")
        _judge_finiteness(sheet, row, batches, [answer[output] for answer in answers])
        # Labels that are too few or too many for the ground truth were told of there.
        if prediction in declared and not sheet.told("binding-label-width", truth):
            _labels(sheet, row, declared[prediction], values)
        if truth and not sheet.failed(*row):
            _against_truth(sheet, row, truth, batches, [answer[output] for answer in answers])


def _judge_finiteness(
    sheet: Sheet, row: tuple[str, str], batches: Sequence[SmallBatch], answers: Sequence[Array]
) -> None:
    for batch, values in zip(batches, answers, strict=True):
        if values.dtype.kind != "f" or np.isfinite(values).all():
            continue
        bad = [i for i, one in enumerate(values) if not np.isfinite(one).all()]
        message = (
            f"Output {row[1]!r} of the model is not finite for {batch.samples[bad[0]]!r} "
            f"({len(bad)} of {len(batch)} {batch.subset} samples)"
        )
        fix = "The inputs are finite, so it is the model: its weights may be NaN, or its inputs scaled otherwise."
        sample = batch.samples[bad[0]]
        sheet.find("model-not-finite", "error", message, fix, row=row, subset=batch.subset, sample=sample)
        return


def _left_over(sheet: Sheet, dataset: Dataset, wiring: Wiring) -> None:
    """Tell of ground truths that no output is compared with, where no function of the binding's own says otherwise."""
    if dataset.losses or dataset.metrics:
        return
    outputs = ", ".join(map(repr, wiring.predictions))
    for one in dataset.ground_truths:
        if one.name not in wiring.ground_truths.values():
            sheet.find(
                "model-output",
                "warning",
                f"Ground truth {one.name!r} is compared with no output of the model: none of {outputs} has its name, "
                "or alone its shape",
                "Name the ground truth like the output that it is for, or bind a loss that takes both.",
                row=(GROUND_TRUTH, one.name),
            )


def _labels(sheet: Sheet, row: tuple[str, str], declared: Field, values: Array) -> None:
    # Of images the classes may also come first, as torch has them.
    axes = {declared.channel_dim, *((1,) if values.ndim > 2 else ())}
    sizes = [values.shape[axis] for axis in axes if -values.ndim < axis < values.ndim]
    if not declared.labels or len(declared.labels) in sizes:
        return
    message = (
        f"Prediction {declared.name!r} declares {len(declared.labels)} labels, but output {row[1]!r} of the model has "
        f"{sizes[0] if sizes else 'no'} values along that axis (a sample is {values.shape[1:]})"
    )
    fix = "Declare one label for each value, in the order of the model's outputs."
    sheet.find("model-labels", "error", message, fix, row=row)


def _against_truth(
    sheet: Sheet, row: tuple[str, str], truth: str, batches: Sequence[SmallBatch], answers: Sequence[Array]
) -> None:
    pairs = [
        (batch.ground_truths[truth], values)
        for batch, values in zip(batches, answers, strict=True)
        if truth in batch.ground_truths
    ]
    if not pairs:
        return
    given, values = pairs[0][0].shape[1:], pairs[0][1].shape[1:]
    if not _comparable(given, values):
        message = f"Ground truth {truth!r} has samples of shape {given}, but output {row[1]!r} of the model {values}"
        flat = len(given) <= 1 and len(values) <= 1
        fix = "Encode the ground truth as the model answers, or check the model that was trained on it."
        sheet.find("model-output", "error" if flat else "info", message, fix, row=row)
        return
    _guessing(sheet, row, truth, pairs)


def _guessing(sheet: Sheet, row: tuple[str, str], truth: str, pairs: Sequence[tuple[Array, Array]]) -> None:
    if any(values.ndim != 2 or values.shape[1] < 2 for _, values in pairs):
        return
    classes = pairs[0][1].shape[1]
    if any(has_several_labels(one) for truths, _ in pairs for one in truths):
        _labels_right(sheet, row, truth, pairs)
        return
    right = [
        class_of(one, classes) == int(answer.argmax())
        for truths, values in pairs
        for one, answer in zip(truths, values, strict=True)
        if class_of(one, classes) is not None
    ]
    if len(right) < ENOUGH:
        return
    sheet.row(*row, note=f"{sum(right)} of {len(right)} right by {truth!r}")
    share, chance = sum(right) / len(right), 1 / classes
    # Two standard errors above chance: what a model that only guesses rarely reaches.
    if share >= chance + 2 * (chance * (1 - chance) / len(right)) ** 0.5:
        return
    message = (
        f"The model is right for {sum(right)} of {len(right)} samples, no more than guessing among {classes} classes"
    )
    fix = (
        "Are the labels in the order of the model's outputs, and are inputs scaled as in its training? "
        "An untrained model guesses too."
    )
    sheet.find("model-guesses", "warning", message, fix, row=row, evidence={"right": sum(right), "of": len(right)})


def _labels_right(sheet: Sheet, row: tuple[str, str], truth: str, pairs: Sequence[tuple[Array, Array]]) -> None:
    """Say how many labels a model of several labels at once tells rightly, where it gives their probabilities."""
    labels, given = (np.concatenate(each) for each in zip(*pairs, strict=True))
    if labels.shape == given.shape and ((given >= 0) & (given <= 1)).all():
        right = int(((given > 0.5) == (labels > 0.5)).sum())
        sheet.row(*row, note=f"{right} of {labels.size} labels right by {truth!r}, several a sample")


def _comparable(truth: Sequence[int], output: Sequence[int]) -> bool:
    """Whether shapes can be compared: equal, or the truth has the number of a class where the output has its axis."""
    truth, output = tuple(truth), tuple(output)
    without = {output[:-1], output[1:], (*output[:-1], 1), (1, *output[1:])}
    return truth == output or (bool(output) and truth in without)
