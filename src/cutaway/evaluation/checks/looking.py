"""Calls every encoder and metadata function on some samples of every subset, and keeps what was seen of each call.

Each is called for a limited time. Whatever it does - raise, sleep, exit, fork - the caller goes on.
"""

from __future__ import annotations

import os
import queue
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from cutaway.dataset import Dataset
from cutaway.dataset.checks import Summary, digest_of_scalars, label_problems, summary
from cutaway.dataset.enums import Role
from cutaway.dataset.functions import Field, MetadataField
from cutaway.dataset.subset import Scalar, Subset, sample_id
from cutaway.errors import EncoderError, place_of
from cutaway.evaluation.checks.sheet import Sheet

__all__ = [
    "GROUND_TRUTH",
    "INPUT",
    "METADATA",
    "CallFailure",
    "Inspection",
    "LimitedCalls",
    "SampleCall",
    "SampleFunction",
    "call_on_sample",
    "call_on_samples",
    "function_of_column",
    "labels_of",
    "sample_functions",
    "spread_positions",
    "succeeded",
    "why_call_failed",
]

INPUT, GROUND_TRUTH, METADATA = "input", "ground truth", "metadata"
ROLES = {INPUT: Role.INPUT, GROUND_TRUTH: Role.GROUND_TRUTH}
# A function that is late this often is not called again: each call costs the whole time limit.
PATIENCE = 2
# One that took this long over its samples is from then on asked for the first and last of each subset only.
SECONDS = 20.0


@dataclass(frozen=True)
class Inspection:
    """What every family of checks works with: where it writes, what is checked, and how it calls."""

    sheet: Sheet
    dataset: Dataset
    call: LimitedCalls
    seed: int = 0


@dataclass(frozen=True)
class SampleFunction:
    """A function of a sample: an encoder by its name, or all metadata of a sample at once."""

    kind: str
    name: str
    declared: Field
    labels: tuple[str, ...] = ()

    @property
    def row(self) -> tuple[str, str]:
        """The row that it has in a sheet."""
        return self.kind, self.name


@dataclass(frozen=True)
class CallFailure:
    """A call that gave nothing: why, and where in somebody's code. `late` ones were stopped waiting for."""

    reason: str
    place: str = ""
    name: str = ""
    late: bool = False


@dataclass(frozen=True)
class SampleCall:
    """One call: of which sample, how long it took, and what came back of it."""

    subset: str
    index: int
    sample: str
    seconds: float
    digest: bytes = b""
    summary: Summary | None = None
    metadata: Mapping[str, Scalar] = field(default_factory=dict)
    failure: CallFailure | None = None


def sample_functions(dataset: Dataset) -> list[SampleFunction]:
    """Return what there is to call: inputs, ground truths, and the metadata in one."""
    asked = [SampleFunction(INPUT, one.name, one) for one in dataset.inputs]
    asked += [SampleFunction(GROUND_TRUTH, one.name, one, labels_of(dataset, one)) for one in dataset.ground_truths]
    if dataset.metadata:
        asked.append(SampleFunction(METADATA, "", Field("")))
    return asked


def labels_of(dataset: Dataset, truth: Field) -> tuple[str, ...]:
    """Return the names of a ground truth's classes: its own, or those of the prediction that it is for."""
    if truth.labels:
        return truth.labels
    same = [one for one in dataset.predictions if one.name == truth.name]
    if len(dataset.predictions) == len(dataset.ground_truths) == 1:
        same = list(dataset.predictions)
    return same[0].labels if same else ()


def function_of_column(column: str, declared: Sequence[MetadataField]) -> str:
    """Return the metadata function that a column comes from: of its name, or `<name>_<key>`; the longest that fits."""
    fitting = [one.name for one in declared if column == one.name or column.startswith(f"{one.name}_")]
    return max(fitting, key=len, default=column)


def spread_positions(length: int, count: int, seed: int) -> list[int]:
    """Return positions to look at: the first, the last, and some between, the same for the same seed.

    >>> spread_positions(3, 10, 0), spread_positions(0, 10, 0)
    ([0, 1, 2], [])
    >>> few = spread_positions(1000, 4, 0)
    >>> few[0], few[-1], len(few)
    (0, 999, 4)
    """
    if length <= count:
        return list(range(length))
    # Reproducible, and nobody's secret.
    between = random.Random(seed).sample(range(1, length - 1), max(count - 2, 0))
    return sorted({0, *between, length - 1})


def call_on_samples(
    inspection: Inspection, asked: SampleFunction, positions: Mapping[str, Sequence[int]]
) -> list[SampleCall]:
    """Call one function at positions of every subset that it is for; one that is late again and again is left alone."""
    seen: list[SampleCall] = []
    late = 0
    spent = 0.0
    dataset = inspection.dataset
    for name, where in positions.items():
        subset = dataset.subsets[name]
        if asked.kind == GROUND_TRUTH and not dataset.labelled(name):
            continue
        for index in where:
            if late >= PATIENCE:
                return seen
            if spent > SECONDS and index not in (where[0], where[-1]):
                continue
            seen.append(call_on_sample(subset, asked, index, inspection.call))
            spent += seen[-1].seconds
            failure = seen[-1].failure
            late += failure is not None and failure.late
    return seen


def call_on_sample(subset: Subset, asked: SampleFunction, index: int, call: LimitedCalls) -> SampleCall:
    """Call one function on one sample."""
    outcome = call(_question(subset, asked, index))
    sample = sample_id(subset.name, subset.ids(index, index + 1)[0])
    failure = why_call_failed(outcome, call.seconds)
    if failure is not None:
        return SampleCall(subset.name, index, sample, outcome.seconds, failure=failure)
    if asked.kind == METADATA:
        values = dict(outcome.value)
        return SampleCall(subset.name, index, sample, outcome.seconds, digest_of_scalars(values), metadata=values)
    looked = summary(outcome.value, asked.declared)
    if asked.labels:
        wrong = label_problems(outcome.value, asked.labels, asked.declared)
        looked = replace(looked, problems=(*looked.problems, *wrong))
    return SampleCall(subset.name, index, sample, outcome.seconds, looked.digest, looked)


def why_call_failed(outcome: CallOutcome, limit: float) -> CallFailure | None:
    """Say why a call gave nothing, in somebody's own words and line where it raised."""
    error = outcome.error
    if outcome.late:
        return CallFailure(f"it had not returned after {limit:g} s", late=True)
    if error is None:
        return None
    if isinstance(error, EncoderError):
        return CallFailure(error.reason, error.place, error.name)
    return CallFailure(f"{type(error).__name__}: {error}".rstrip(": "), place_of(error))


def _question(subset: Subset, asked: SampleFunction, index: int) -> Callable[[], Any]:
    if asked.kind == METADATA:
        return lambda: subset.metadata(index)
    return lambda: subset.encode(ROLES[asked.kind], asked.name, index)


def succeeded(seen: Iterable[SampleCall]) -> list[SampleCall]:
    """Return the calls that gave something."""
    return [one for one in seen if one.failure is None]


class CallOutcome(NamedTuple):
    """What came of a call: a value or an error, and how long it took. `late` says that it was not waited for longer."""

    value: Any = None
    error: BaseException | None = None
    seconds: float = 0.0
    late: bool = False


class LimitedCalls:
    """Calls functions one at a time on a thread of its own, each for at most `seconds`.

    A call that takes longer is left behind on its thread, which nothing waits for, and the next call gets a new one.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._worker: _CallThread | None = None

    def __call__(self, function: Callable[[], Any], seconds: float | None = None) -> CallOutcome:
        """Call a function of no arguments; `seconds` is another limit for this call."""
        limit = self.seconds if seconds is None else seconds
        if self._worker is None:
            self._worker = _CallThread()
        worker = self._worker
        worker.jobs.put(function)
        try:
            return worker.outcomes.get(timeout=limit)
        except queue.Empty:
            worker.jobs.put(None)
            self._worker = None
            return CallOutcome(seconds=limit, late=True)

    def close(self) -> None:
        """Let the thread end; one that was left behind ends when its call does."""
        if self._worker is not None:
            self._worker.jobs.put(None)
            self._worker = None


class _CallThread:
    """A daemon thread with a queue before and behind it."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self.outcomes: queue.SimpleQueue[CallOutcome] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="cutaway-check", daemon=True).start()

    def _work(self) -> None:
        process = os.getpid()
        while (job := self.jobs.get()) is not None:
            start = time.perf_counter()
            try:
                outcome = CallOutcome(job(), None, time.perf_counter() - start)
            except BaseException as error:  # noqa: BLE001  # also SystemExit: it is somebody's code, and not our end
                outcome = CallOutcome(None, error, time.perf_counter() - start)
            if os.getpid() != process:
                # The function forked and came back in the child too. Of that copy nothing may be written or cleaned up.
                os._exit(0)
            self.outcomes.put(outcome)
