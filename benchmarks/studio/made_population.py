"""Makes the evaluation of a population of any size: files by the run package's own writers, with a map and analyses.

Classes lie in groups on the map, a few labels are wrong, and a few samples failed, so that every page has something to
show. What is made depends on the arguments alone.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cutaway.analysis.samples.origin import Origin
from cutaway.run import Run
from cutaway.run.evaluated import answer_of
from cutaway.run.evaluations import LATENT, Evaluation, new_evaluation, write_source
from cutaway.run.sample_columns import SPACE, list_column, tensor_field, vector_column
from cutaway.run.sample_writer import PART_ROWS, SampleWriter

__all__ = ["made_population"]

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

WRONG, FAILED = 0.02, 0.001
# More probabilities a sample than these are left out: they would take most of the disk.
MOST_SCORES = 20
METADATA = 14


@dataclass(frozen=True)
class _Drawn:
    """What is drawn for all samples of an evaluation at once."""

    names: list[str]
    true: Ints
    label: Ints
    prediction: Ints
    loss: Floats
    positions: Floats
    failed: npt.NDArray[np.bool_]


def made_population(
    folder: Path,
    samples: int,
    classes: int = 10,
    *,
    long_names: bool = False,
    evaluations: int = 1,
    analyses: bool = True,
) -> Run:
    """Write a run with an evaluation of so many samples, in two subsets, about 20 columns each.

    `long_names` gives classes and a column names of 200 characters. With several `evaluations` the later are better,
    and their maps are aligned. Without `analyses` there is no map, no clusters and no suspicious labels.
    """
    run = Run.create(folder, kind="evaluation")
    for number in range(evaluations):
        drawn = _draw(samples, classes, long_names=long_names, number=number)
        evaluation = new_evaluation(run)
        training = max(1, samples * 4 // 5) if samples > 1 else samples
        lengths = {"training": training, "validation": samples - training}
        lengths = {name: count for name, count in lengths.items() if count}
        _write(evaluation, drawn, lengths, long_names=long_names)
        if analyses:
            _analyse(evaluation, drawn, lengths)
    return run


def _draw(samples: int, classes: int, *, long_names: bool, number: int) -> _Drawn:
    # The same samples at every evaluation; only what the model makes of them changes.
    random, own = np.random.default_rng(0), np.random.default_rng(number + 1)
    names = [f"class {one}" if classes > 10 else str(one) for one in range(classes)]
    if long_names:
        names = [f"{name} {'with a rather long name ' * 10}"[:200].strip() for name in names]
    true = random.integers(0, classes, samples)
    label = np.where(random.random(samples) < WRONG, (true + 1) % classes, true)
    right = own.random(samples) < (0.9 if number else 0.7)
    prediction = np.where(right, true, own.integers(0, classes, samples))
    angle = np.arange(classes) * 2.399963  # the golden angle: as far apart as many can lie
    centres = np.stack([np.cos(angle), np.sin(angle)], axis=1) * 3 * np.sqrt(np.arange(classes) + 1)[:, None]
    positions = (centres[true] + own.standard_normal((samples, 2))).astype(np.float32)
    loss = np.where(prediction == label, 0.1, 2.0) * own.gamma(2.0, 1.0, samples)
    failed = random.random(samples) < FAILED
    return _Drawn(names, true, label, prediction, loss.astype(np.float32), positions, failed)


def _write(evaluation: Evaluation, drawn: _Drawn, lengths: dict[str, int], *, long_names: bool) -> None:
    random = np.random.default_rng(evaluation.number + 1)
    writer = SampleWriter(evaluation.run, evaluation.number)
    begun = 0
    for subset, count in lengths.items():
        for start in range(0, count, PART_ROWS):
            rows = np.arange(start, min(count, start + PART_ROWS))
            table = _rows(drawn, subset, rows, begun + rows, random, long_names=long_names)
            writer.append(subset, start, table.to_batches()[0])
        begun += count
    writer.merge(lengths)
    writer.remove_parts()
    write_source(evaluation, _source(evaluation, drawn, lengths))


def _rows(
    drawn: _Drawn, subset: str, own: Ints, rows: Ints, random: np.random.Generator, *, long_names: bool
) -> pa.Table:
    good, count = ~drawn.failed[rows], len(rows)
    names = pa.array(drawn.names, pa.string())
    columns: dict[str, Any] = {
        "id": pa.array([f"{subset}/{one}" for one in own.tolist()]),
        "index": own,
        "error": pa.array([None if one else "the encoder failed" for one in good.tolist()], pa.string()),
        "ground_truth.class.label": names.take(pa.array(drawn.label[rows])),
        "prediction.scores.label": names.take(pa.array(drawn.prediction[rows], mask=~good)),
        "loss": pa.array(drawn.loss[rows], mask=~good),
        "metric.margin": pa.array(random.standard_normal(count).astype(np.float32), mask=~good),
        "metadata.source": pa.array([("camera", "scan", "web, cropped")[one % 3] for one in drawn.true[rows].tolist()]),
        "metadata.retouched": pa.array(random.random(count) < 0.3),
    }
    for place in range(METADATA):
        name = (
            f"metadata.{place} {'a column of a long name ' * 8}".strip() if long_names else f"metadata.measure_{place}"
        )
        follows = drawn.loss[rows] if place == 0 else 0
        columns[name] = follows + random.standard_normal(count)
    fields = {name: pa.array(values) for name, values in columns.items()}
    fields[f"{SPACE}{LATENT}"] = vector_column(np.tile(drawn.positions[rows], 2))
    schema = [pa.field(name, values.type) for name, values in fields.items()]
    if len(drawn.names) <= MOST_SCORES:
        scores = np.full((count, len(drawn.names)), 0.5 / len(drawn.names), np.float32)
        scores[np.arange(count), drawn.prediction[rows]] += 0.5
        fields["prediction.scores"] = list_column(scores, good)
        schema.append(tensor_field("prediction.scores", fields["prediction.scores"], (len(drawn.names),)))
    return pa.table(list(fields.values()), schema=pa.schema(schema)).combine_chunks()


def _source(evaluation: Evaluation, drawn: _Drawn, lengths: dict[str, int]) -> dict[str, Any]:
    told = {"classes": len(drawn.names), "names": drawn.names}
    return {
        "key": hashlib.sha256(f"{evaluation.number} {lengths} {len(drawn.names)}".encode()).hexdigest(),
        "state": "finished",
        "time": f"2026-01-{1 + evaluation.number:02d}T12:00:00+00:00",
        "model": {"format": "torch", "class": "Sequential"},
        "wiring": {"predictions": {"output": "scores"}, "ground_truths": {"scores": "class"}},
        "subsets": {
            name: {"samples": count, "means": {"loss": float(drawn.loss.mean())}} for name, count in lengths.items()
        },
        "spaces": {LATENT: {"layer": "head.input"}},
        "scores": {
            "pairs": {"scores": {"classes": len(drawn.names), "probabilities": True, "comparable": True}},
            "labels": {"prediction.scores": told, "ground_truth.class": told},
        },
    }


def _analyse(evaluation: Evaluation, drawn: _Drawn, lengths: dict[str, int]) -> None:
    """Keep a map, its clusters (one a class), and which labels look wrong, as analyses would."""
    origin = Origin(evaluation, tuple(lengths), LATENT, answer_of(evaluation))
    ids = pa.array([f"{subset}/{one}" for subset, count in lengths.items() for one in range(count)])
    positions = drawn.positions.copy()
    positions[drawn.failed] = np.nan
    x, y = (np.ascontiguousarray(one) for one in positions.T)
    settings = {"method": "umap", "seed": 0, "neighbours": 15, "after": None}
    notes = [f"Aligned to the map of evaluation {evaluation.number - 1}."] if evaluation.number else []
    origin.keep("map", settings, pa.table({"sample": ids, "x": x, "y": y}), notes, trustworthiness=0.98)
    made = {"seed": 0, "map": hashlib.sha256(positions.tobytes()).hexdigest()}
    groups = pa.array(drawn.true, pa.int64(), mask=drawn.failed)
    distances = pa.array(np.ones(len(ids), np.float32), mask=drawn.failed)
    words = [f"mostly {name}" for name in drawn.names]
    described = pa.table({"cluster": pa.array(range(len(words)), pa.int64()), "words": pa.array(words)})
    origin.keep("clusters_words", made, described)
    table = pa.table({"sample": ids, "cluster": groups, "distance": distances})
    origin.keep("clusters", made, table, words=[], tables=["words"])
    _suspect(origin, drawn, ids, lengths)


def _suspect(origin: Origin, drawn: _Drawn, ids: pa.Array, lengths: dict[str, int]) -> None:
    wrong = drawn.label != drawn.true
    score = np.where(wrong, 0.9, 0.01) + np.linspace(0, 0.05, len(ids))
    order = np.argsort(-score, kind="stable")
    names, take = pa.array(drawn.names, pa.string()), pa.array(order)
    suggested = np.where(wrong, drawn.true, (drawn.label + 1) % len(drawn.names))
    table = pa.table(
        {
            "sample": ids.take(take),
            "score": score[order],
            "reason": pa.array(["its neighbours are of another class"] * len(ids)),
            "subset": pa.array(np.repeat(list(lengths), list(lengths.values()))).take(take),
            "label": names.take(pa.array(drawn.label[order])),
            "suggested": names.take(pa.array(suggested[order])),
            "suggested_score": 0.95 * score[order],
        }
    )
    origin.keep("mislabeled", {"seed": 0, "visits": 0}, table, words=[])
