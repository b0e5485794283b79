"""The samples of an evaluation as `Samples`: the columns that analyses know, and latent vectors of one space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.samples import SAMPLE, Samples
from cutaway.analysis.samples.run_dynamics import read_dynamics
from cutaway.analysis.samples.tables import Answer, sample_table
from cutaway.arrays import Float32Array
from cutaway.errors import ConfigurationError, EvaluationError, did_you_mean
from cutaway.run.evaluations import LATENT, Evaluation, space_file_name
from cutaway.run.sources import Pair, Source

__all__ = ["Answer", "answer_of", "default_space", "read_latents", "read_probabilities", "read_samples"]

# More classes than this times samples of probabilities are left in their file.
MOST_PROBABILITIES = 50_000_000


def answer_of(evaluation: Evaluation, prediction: str | None = None) -> Answer:
    """Return which prediction is analysed: the named one, else the first that has one class a sample."""
    source = evaluation.source
    truths, predictions = source.ground_truths, list(source.predictions.values())
    if prediction is not None and prediction not in predictions:
        raise ConfigurationError(
            f"There is no prediction {prediction!r}.{did_you_mean(prediction, predictions)} "
            f"There are {', '.join(predictions)}."
        )
    candidates = predictions if prediction is None else [prediction]
    for name in candidates:
        pair = source.pairs.get(name, Pair())
        # A model whose answers are all NaN still has labels to be compared with.
        columns = {f"prediction.{name}.label", f"ground_truth.{truths.get(name)}.label"}
        if pair.classes and any(_is_label(evaluation, column) for column in columns):
            classes = source.class_names.get(f"prediction.{name}") or tuple(map(str, range(pair.classes)))
            return Answer(name, truths.get(name), classes, probabilities=pair.probabilities)
    first = candidates[0] if candidates else None
    return Answer(first, truths.get(first or ""), reason=_no_classes(source, first))


def default_space(evaluation: Evaluation) -> str:
    """Return the latent space that analyses take: one of the user's that is meant for it, else the model's."""
    own = [name for name, about in evaluation.source.spaces.items() if about.use_for_analysis]
    known = evaluation.spaces
    if not known:
        raise EvaluationError(
            f"Evaluation {evaluation.number} has no latent vectors. Evaluate with `latent_layer=`, or `--layer`."
        )
    return own[0] if own else LATENT if LATENT in known else known[0]


def read_samples(evaluation: Evaluation, subsets: Sequence[str], space: str, answer: Answer) -> Samples:
    """Return the samples of some subsets, one after the other."""
    table = sample_table(evaluation, subsets, answer)
    latents = read_latents(evaluation, subsets, space)
    if len(latents) != table.num_rows:
        raise EvaluationError(
            f"Evaluation {evaluation.number} has {len(latents):,} latent vectors for {table.num_rows:,} samples of "
            f"{', '.join(subsets)}. Evaluate again."
        )
    probabilities = read_probabilities(evaluation, subsets, answer, table.num_rows)
    dynamics = read_dynamics(evaluation.run, table[SAMPLE].to_pylist()) if answer.classes else None
    return Samples(table, latents, answer.classes, probabilities, dynamics, _hashes(evaluation, subsets))


def read_latents(evaluation: Evaluation, subsets: Sequence[str], space: str) -> Float32Array:
    """Return the latent vectors of some subsets, one after the other. Raises where they are not of one width."""
    failed = {name: rows for name in subsets if (rows := _all_failed(evaluation, name, space))}
    found = {name: evaluation.latents(name, space) for name in subsets if name not in failed}
    # Where nothing tells how wide a vector is, one NaN says that there is none.
    width = next(iter(found.values())).shape[1:] if found else (1,)
    arrays = [found[name] if name in found else np.full((failed[name], *width), np.nan, np.float32) for name in subsets]
    widths = {values.shape[1:] for values in arrays}
    if len(widths) != 1 or len(next(iter(widths))) != 1 or any(values.dtype.kind != "f" for values in arrays):
        listed = ", ".join(
            f"{values.dtype} {values.shape} of {name}" for name, values in zip(subsets, arrays, strict=True)
        )
        raise EvaluationError(
            f"The latent vectors of space {space!r} must be numbers of one width, but evaluation {evaluation.number} "
            f"has {listed or 'none'}. Evaluate again."
        )
    # One subset stays where it lies on disk; several are put together.
    whole = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
    return whole.astype(np.float32, copy=False)


def _all_failed(evaluation: Evaluation, subset: str, space: str) -> int:
    """Return how many samples a subset has of which each failed, so that there is no file of vectors; else 0."""
    if (evaluation.path / f"{subset}.{space_file_name(space)}.npy").is_file():
        return 0
    errors = evaluation.table(subset, ["error"])
    return len(errors) if errors.num_columns and not errors["error"].null_count else 0


def read_probabilities(
    evaluation: Evaluation, subsets: Sequence[str], answer: Answer, rows: int
) -> Float32Array | None:
    """Return the probabilities of the classes: the model's own, or the softmax of the scores that it gives instead."""
    if not answer.classes or rows * len(answer.classes) > MOST_PROBABILITIES:
        return None
    name = f"prediction.{answer.prediction}"
    found = []
    for subset in subsets:
        if name not in evaluation.column_names(subset) or evaluation.in_blobs(subset, name):
            return None
        found.append(_dense(evaluation.table(subset, [name])[name].combine_chunks(), len(answer.classes)))
    scores = np.concatenate(found)
    return scores if answer.probabilities else _softmax(scores)


def _softmax(scores: Float32Array) -> Float32Array:
    with np.errstate(invalid="ignore"):
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(likely / likely.sum(axis=1, keepdims=True), np.float32)


def _hashes(evaluation: Evaluation, subsets: Sequence[str]) -> tuple[str | None, ...] | None:
    if not all("hash" in evaluation.column_names(name) for name in subsets):
        return None
    columns = [evaluation.table(name, ["hash"])["hash"] for name in subsets]
    if not all(pa.types.is_string(one.type) or pa.types.is_null(one.type) for one in columns):
        return None
    return tuple(one for column in columns for one in column.to_pylist())


def _dense(column: Any, width: int) -> Float32Array:
    """Return lists of one length as rows, NaN where there is none."""
    dense = np.full((len(column), width), np.nan, np.float32)
    if not (pa.types.is_list(column.type) and _is_number(column.type.value_type)):
        return dense
    valid = np.asarray(column.is_valid())
    values = np.asarray(column.flatten(), np.float32)
    if values.size == valid.sum() * width:
        dense[valid] = values.reshape(-1, width)
    return dense


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def _is_label(evaluation: Evaluation, column: str) -> bool:
    """Whether a column holds a class for at least one sample; a segmentation has one for each place instead."""
    for subset in evaluation.subsets:
        if column in evaluation.column_names(subset):
            held = evaluation.table(subset, [column])[column]
            if held.null_count < len(held):
                return True
    return False


def _no_classes(source: Source, prediction: str | None) -> str:
    if prediction not in source.ground_truths:
        return "no prediction is compared with a ground truth"
    if source.pairs.get(prediction or "", Pair()).classes:
        return "the model tells classes apart at each place of a sample, not one class for each sample"
    return "the model's answer is not one class for each sample, with a score for each of several classes"
