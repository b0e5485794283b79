"""Runs one measurement of evaluation: `python -m benchmarks.evaluate.worker JOB RESULT`.

JOB is JSON on the command line, RESULT a file that gets the JSON answer.
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.evaluate.subjects import BATCH, SUBJECTS, images
from cutaway.dataset import Dataset
from cutaway.evaluation import Evaluation, evaluate
from cutaway.models import Gradient, Layer, Model, ModelDescription, TensorSpec
from cutaway.models.backend import Arrays, Question
from cutaway.run import Run


def main(arguments: list[str]) -> None:
    """Do the job and write the answer."""
    job = json.loads(arguments[0])
    answer = TASKS[job["task"]](job, Path(job["scratch"]))
    Path(arguments[1]).write_text(json.dumps(answer))


def against_bare(job: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Evaluate arrays and predict them with the bare framework, in turn, in one process."""
    measured = SUBJECTS[job["subject"]](scratch)
    x, y = images(job["samples"], channels_first=measured.channels_first)
    dataset = Dataset.from_arrays({"image": x}, {"label": y}, channel_dim=1 if measured.channels_first else -1)
    model = measured.model()
    measured.bare(x[: 4 * BATCH])
    small = Dataset.from_arrays({"image": x[:256]}, {"label": y[:256]}, channel_dim=dataset.inputs[0].channel_dim)
    _evaluated(small, model, scratch)
    bare, ours = [], []
    wanted = measured.bare(x)
    for repeat in range(job["repeats"]):
        # Each is first every other time: a machine that slows down or speeds up favours neither.
        for which in ("bare", "ours") if repeat % 2 else ("ours", "bare"):
            begin = time.perf_counter()
            if which == "bare":
                measured.bare(x)
                bare.append(time.perf_counter() - begin)
            else:
                evaluation, seconds = _evaluated(dataset, model, scratch)
                ours.append(seconds)
                error = _difference(evaluation, wanted)
    return {
        "bare": bare,
        "ours": ours,
        "samples": job["samples"],
        "batch_ms": 1e3 * float(np.median(bare)) * BATCH / job["samples"],
        "error": error,
        "failed": len(evaluation.failures()),
        "rows": len(evaluation.table("training", ["id"])),
        "latents": list(evaluation.latents("training").shape),
    }


def overlap(job: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Evaluate with an encoder that waits, as for a disk, beside encoding and predicting one after the other."""
    from cutaway.dataset.enums import Role

    measured = SUBJECTS["torch"](scratch)
    x, y = images(job["samples"], channels_first=True)
    whole = Dataset.from_arrays({"image": x}, {"label": y}, channel_dim=1)
    subset = whole.subsets["training"]

    class Slow:
        """The same samples, one at a time, each after a pause."""

        name = "training"

        def __len__(self) -> int:
            return len(subset)

        def encode(self, role: Role, name: str, index: int) -> np.ndarray:
            if role is Role.INPUT:
                time.sleep(job["pause"])
            return subset.encode(role, name, index)

        def encode_many(self, *_: object) -> None:
            return None

        def __getattr__(self, name: str) -> Any:
            return getattr(subset, name)

    slow = Dataset({"training": Slow()}, whole.inputs, whole.ground_truths)
    model = measured.model()
    serial, ours = [], []
    for _ in range(job["repeats"]):
        begin = time.perf_counter()
        for start in range(0, len(x), BATCH):
            rows = [slow.subsets["training"].encode(Role.INPUT, "image", i) for i in range(start, start + BATCH)]
            measured.bare(np.stack(rows))
        serial.append(time.perf_counter() - begin)
        evaluation, seconds = _evaluated(slow, model, scratch, workers=2)
        ours.append(seconds)
    return {"serial": serial, "ours": ours, "failed": len(evaluation.failures()), "samples": job["samples"]}


class TinyBackend:
    """A model that costs nothing, so that what remains is the evaluation's own."""

    description = ModelDescription(
        "tiny",
        (TensorSpec("x", (None, 4)),),
        (TensorSpec("scores", (None, 3), channel_axis=-1),),
        (Layer("same", "Same", (None, 4)),),
        "same",
    )

    def predict(self, batch: Arrays) -> Arrays:
        """Return the first three numbers."""
        return {"scores": batch["x"][:, :3].copy()}

    def activations(self, batch: Arrays, layers: Sequence[str]) -> Arrays:
        """Return the input."""
        return {name: batch["x"].copy() for name in layers}

    def gradient(self, batch: Arrays, question: Question) -> Gradient:
        """There is none to ask for here."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is held."""


def memory(job: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Evaluate many tiny samples and return the most memory that this process ever took."""
    chance = np.random.default_rng(0)
    x = chance.uniform(size=(job["samples"], 4)).astype(np.float32)
    y = chance.integers(0, 3, job["samples"])
    dataset = Dataset.from_arrays({"x": x}, {"y": y}, metadata={"size": np.arange(job["samples"])})
    evaluation, seconds = _evaluated(dataset, Model(TinyBackend()), scratch, batch_size=256)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = sum(one.samples or 0 for one in evaluation.source.subsets.values())
    return {"peak_mb": peak, "seconds": seconds, "rows": rows, "samples": job["samples"]}


def _evaluated(
    dataset: Dataset, model: Any, scratch: Path, *, batch_size: int = BATCH, workers: int = 1
) -> tuple[Evaluation, float]:
    """Evaluate into a fresh run; the whole call is timed, from opening the run to the last file."""
    folder = scratch / "run"
    shutil.rmtree(folder, ignore_errors=True)
    run = Run.create(folder)
    begin = time.perf_counter()
    evaluation = evaluate(dataset, model, run, batch_size=batch_size, workers=workers, keep_model=False)
    return evaluation, time.perf_counter() - begin


def _difference(evaluation: Evaluation, wanted: np.ndarray) -> float:
    table = evaluation.table("training")
    name = next(one for one in table.column_names if one.startswith("prediction.") and not one.endswith(".label"))
    got = table.column(name).combine_chunks().flatten().to_numpy().reshape(wanted.shape)
    return float(np.abs(got - wanted).max() / np.abs(wanted).max())


TASKS: dict[str, Callable[[dict[str, Any], Path], dict[str, Any]]] = {
    "against_bare": against_bare,
    "overlap": overlap,
    "memory": memory,
}

if __name__ == "__main__":
    main(sys.argv[1:])
