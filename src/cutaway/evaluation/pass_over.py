"""The one pass over the samples: batches come prepared, the model answers, and what is found is written.

Three things go on at once: threads encode the batches ahead, this thread waits for the model, and one more scores and
writes what has come back. Decides nothing; `evaluate` hands it everything.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from cutaway.arrays import Array
from cutaway.errors import EvaluationError
from cutaway.evaluation.drawing import Drawing
from cutaway.evaluation.encoding import Encoding
from cutaway.evaluation.plan import Plan
from cutaway.evaluation.predicting import Predicted, Predictor
from cutaway.evaluation.prepared import BatchResults, Prepared, make_rows
from cutaway.evaluation.preparing import Preparing, Span
from cutaway.evaluation.progress import Listener, Progress
from cutaway.evaluation.scoring import Bound, Values, label_columns, own_vectors, score, total_loss
from cutaway.run.evaluations import LATENT
from cutaway.run.sample_writer import SampleWriter

__all__ = ["MOST_FAILURES", "Pass", "Setting"]

# A model that fails on so many samples in a row fails on all of them.
MOST_FAILURES = 64
# Batches that the model has answered and that are not written yet.
MOST_UNWRITTEN = 2
TELL_SECONDS = 0.1
TURN_SECONDS = 0.0001
# How long finishing a batch waits for the model to be given its next one: a share of what it takes for a batch, and
# the most. Both need the interpreter, and a model without a batch stands still.
HEAD_START, MOST_HEAD_START = 0.1, 0.003


@dataclass(frozen=True)
class Setting:
    """How the pass is made."""

    batch_size: int
    workers: int
    sample_timeout: float
    on_error: Literal["skip", "fail"]


@dataclass
class Pass:
    """One pass over the samples that are not written yet."""

    encoding: Encoding
    predictor: Predictor
    writer: SampleWriter
    setting: Setting
    lengths: Mapping[str, int]
    # Makes the plan when the first batch has come; what it returned stays.
    plan: Callable[[Mapping[str, Array]], Plan]
    spaces: tuple[Bound, ...] = ()
    drawing: Drawing | None = None
    listener: Listener | None = None
    what: str = ""
    failed: int = 0
    _done: int = 0
    _before: int = 0
    _answered: int = 0
    _row_of_failures: int = 0
    _stopped: bool = False
    _began: float = field(default_factory=time.monotonic)
    _told: float = 0.0

    def run(self) -> None:
        """Evaluate what is left. Raises `EvaluationError` where it must end; what was written stays."""
        self._before = self._done = sum(self.writer.rows_done(name) for name in self.lengths)
        self._tell_progress(force=True)
        preparing = Preparing(
            self.encoding,
            workers=self.setting.workers,
            sample_timeout=self.setting.sample_timeout,
            finish=self._draw_early,
        )
        unwritten: deque[Future[None]] = deque()
        with quick_turns(), ThreadPoolExecutor(1, thread_name_prefix="cutaway-writer") as finishing:
            try:
                for batch in preparing.batches(self._spans()):
                    began = time.monotonic()
                    predicted = self._predict(batch)
                    wait = min(HEAD_START * (time.monotonic() - began), MOST_HEAD_START)
                    while len(unwritten) >= MOST_UNWRITTEN:
                        unwritten.popleft().result()
                    unwritten.append(finishing.submit(self._finish, batch, predicted, wait))
                while unwritten:
                    unwritten.popleft().result()
            finally:
                preparing.close()
        self.writer.flush()
        self._tell_progress(force=True)

    def _spans(self) -> Iterator[Span]:
        size = self.setting.batch_size
        for name, length in self.lengths.items():
            for start in range(self.writer.rows_done(name), length, size):
                yield name, start, min(start + size, length)

    def _predict(self, batch: Prepared) -> Predicted:
        predicted = self.predictor.predict(batch.inputs)
        if not len(predicted.good):
            return predicted
        if predicted.good.any():
            self._row_of_failures = 0
        else:
            self._row_of_failures += len(predicted.good)
        first = self._answered == 0 and len(predicted.good) > 1
        if predicted.errors and not predicted.good.any() and (first or self._row_of_failures >= MOST_FAILURES):
            where, why = next(iter(predicted.errors.items()))
            sample = batch.ids[int(batch.positions[where])]
            raise EvaluationError(
                f"The model failed on {self._row_of_failures} samples in a row, so the evaluation stops; what was done "
                "is kept.",
                hint=f"Sample {sample!r}: {why}",
            )
        self._answered += len(batch)
        return predicted

    def _finish(self, batch: Prepared, predicted: Predicted, wait: float) -> None:
        time.sleep(wait)
        # Behind a batch that could not be finished nothing is written: rows have no gap.
        if self._stopped:
            return
        try:
            self._write(batch, predicted)
        except BaseException:
            self._stopped = True
            raise

    def _write(self, batch: Prepared, predicted: Predicted) -> None:
        for row, why in predicted.errors.items():
            batch.fail(int(batch.positions[row]), why)
        found = self._results_of_batch(batch, predicted)
        if self.setting.on_error == "fail":
            self._stop_at_error(batch)
        self.writer.append(batch.subset, batch.start, make_rows(batch, found))
        self._done += len(batch)
        self.failed += sum(error is not None for error in batch.errors)
        self._tell_progress()

    def _results_of_batch(self, batch: Prepared, predicted: Predicted) -> BatchResults:
        good = predicted.good
        places = batch.positions[good] if len(good) else batch.positions[:0]
        if not len(places):
            return BatchResults(places)
        subset = self.encoding.dataset.subsets[batch.subset]
        arrays = _arrays(batch, predicted)
        values = Values(arrays, subset, (batch.start + places).tolist())
        plan = self.plan(arrays)
        columns, errors = score(plan.bound, values)
        loss = total_loss(columns)
        if loss is not None:
            columns = {"loss": loss, **columns}
        spaces = {LATENT: predicted.latents} if predicted.latents is not None else {}
        for one in self.spaces:
            vectors = own_vectors(one, values, errors)
            if vectors is not None:
                spaces[one.name] = vectors
        for row, why in errors.items():
            batch.fail(int(places[row]), why)
        if self.drawing is not None and self.drawing.needs_predictions:
            self._draw(batch, places, self.drawing, arrays)
        columns |= label_columns(plan.labels, arrays)
        return BatchResults(places, predicted.outputs, columns, spaces, int(predicted.not_finite.sum()))

    def _draw_early(self, batch: Prepared) -> None:
        """Draw, in the threads that encode, what does not wait for the model."""
        if self.drawing is None:
            return
        batch.previews = [None] * len(batch)
        if not self.drawing.needs_predictions and batch.inputs:
            arrays = {f"input.{name}": values for name, values in batch.inputs.items()}
            arrays |= {f"ground_truth.{name}": values for name, values in batch.truths.items()}
            self._draw(batch, batch.positions, self.drawing, arrays)

    def _draw(self, batch: Prepared, places: np.ndarray, drawing: Drawing, arrays: Mapping[str, Array]) -> None:
        assert batch.previews is not None
        indices = (batch.start + places).tolist()
        pictures = drawing.draw(arrays, self.encoding.dataset.subsets[batch.subset], indices)
        for place, picture in zip(places.tolist(), pictures, strict=True):
            batch.previews[place] = picture

    def _stop_at_error(self, batch: Prepared) -> None:
        for sample, error in zip(batch.ids, batch.errors, strict=True):
            if error is not None:
                raise EvaluationError(
                    f"Sample {sample!r} failed: {error} The samples before it are kept.",
                    hint=(
                        "Mend it and run the same again, or go past such samples with `on_error='skip'` (`--on-error "
                        "skip`)."
                    ),
                )

    def _tell_progress(self, *, force: bool = False) -> None:
        now = time.monotonic()
        if self.listener is None or (now - self._told < TELL_SECONDS and not force):
            return
        self._told = now
        total = sum(self.lengths.values())
        fresh = self._done - self._before
        self.listener(Progress(self._done, total, "samples", now - self._began, fresh, self.failed, self.what))


@contextmanager
def quick_turns() -> Iterator[None]:
    """Let threads take turns more often than Python does by itself, and restore that at the end.

    The model gives the interpreter up for each of its operations, and would wait up to 5 ms to get it back from a
    thread that encodes: with ten operations a batch that is what most of a batch takes.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, TURN_SECONDS))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _arrays(batch: Prepared, predicted: Predicted) -> dict[str, Array]:
    """Return every source of the good rows, by `<kind>.<name>`."""
    every = bool(predicted.good.all())
    arrays = {f"prediction.{name}": values for name, values in predicted.outputs.items()}
    for kind, named in (("ground_truth", batch.truths), ("input", batch.inputs)):
        for name, values in named.items():
            arrays[f"{kind}.{name}"] = values if every else values[predicted.good]
    return arrays
