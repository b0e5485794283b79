"""The state of one evaluation in its run: begun or taken up again, alive, finished or stopped; its `source.json`.

What it came to - counts, means, failures - is read from its tables piece by piece.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa

from cutaway.errors import StorageError
from cutaway.evaluation.pass_over import Pass
from cutaway.run import Run, RunState
from cutaway.run.evaluated.tables import element_columns
from cutaway.run.evaluations import Evaluation, claim_evaluations, evaluations, new_evaluation, write_source
from cutaway.run.leases import BEAT_SECONDS, Lease
from cutaway.run.sources import Pair, read_source

__all__ = ["Ledger"]

log = logging.getLogger("cutaway.evaluation")


class Ledger:
    """Holds the lease on a run's evaluations while one is made, and writes what became of it."""

    def __init__(self, evaluation: Evaluation, content: dict[str, Any], lease: Lease, *, resumed: bool) -> None:
        self.evaluation = evaluation
        self.resumed = resumed
        self._content = content
        self._lease = lease
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._before = float(content.get("seconds", 0.0))
        self._began = time.monotonic()

    @classmethod
    def open(cls, run: Run, content: dict[str, Any], *, resume: bool) -> Self:
        """Claim the run, and begin a new evaluation or go on with an unfinished one of the same key."""
        lease = claim_evaluations(run)
        same = [one for one in evaluations(run) if one.source.key == content["key"] and not one.finished]
        if resume and same:
            old = same[-1].source.document
            kept: dict[str, Any] = {name: old[name] for name in ("time", "scores", "model", "seconds") if name in old}
            ledger = cls(same[-1], {**content, **kept}, lease, resumed=True)
            log.info("%s", ledger.words)
        else:
            ledger = cls(new_evaluation(run), content, lease, resumed=False)
        ledger.update(state="running")
        return ledger

    @property
    def words(self) -> str:
        """Say that an unfinished evaluation is taken up again; empty where this one is new."""
        where = f"evaluation {self.evaluation.number} of run {self.evaluation.run.name}"
        return f"Going on with {where}, which was not finished." if self.resumed else ""

    def __enter__(self) -> Self:
        threading.Thread(target=self._beat, name="cutaway-lease", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if error is not None:
            self.update(state="stopped", reason=str(error) or type(error).__name__)
        self._lease.release(RunState.FINISHED if error is None else RunState.FAILED)

    def update(self, **changes: Any) -> None:
        """Write `source.json` with some things changed."""
        with self._lock:
            seconds = self._before + time.monotonic() - self._began
            self._content = {**self._content, **changes, "seconds": round(seconds, 3)}
            write_source(self.evaluation, self._content)

    def pairs(self) -> Mapping[str, Pair] | None:
        """Return what an earlier process saw in its first batch; None where it came to none."""
        return read_source(self._content).pairs if "scores" in self._content else None

    def carry_out(self, one_pass: Pass, lengths: Mapping[str, int]) -> None:
        """Make the pass, put its parts together and say that it is finished."""
        try:
            one_pass.run()
        finally:
            one_pass.writer.flush()
        counts = one_pass.writer.merge(lengths)
        subsets = {
            name: {**summarize(self.evaluation, name), "not_finite_samples": counts.get(name, {})} for name in lengths
        }
        notes = [*self._content["notes"], *self._content.get("scores", {}).get("notes", [])]
        notes += [
            f"{name} has no mean: `confusion` of `cutaway analyze` counts its decisions at a threshold."
            for name in element_columns(self.evaluation, list(lengths))
        ]
        drawing = one_pass.drawing
        if drawing is not None and drawing.said:
            notes.append(f"Some previews could not be drawn: {drawing.said}")
        self.update(state="finished", subsets=subsets, notes=notes)
        one_pass.writer.remove_parts()

    def _beat(self) -> None:
        while not self._ended.wait(BEAT_SECONDS):
            try:
                self._lease.beat()
            except StorageError:
                continue  # a full disk ends the evaluation where it writes rows, and says so there


def summarize(evaluation: Evaluation, subset: str) -> dict[str, Any]:
    """Return how many samples of a subset there are and failed, and the mean of each loss and metric over the rest.

    Means are over the samples whose value is finite; how many are not stands beside.
    """
    sums: dict[str, list[float]] = {}
    samples = failed = 0
    for piece in evaluation.pieces(subset, ("error", "loss", "metric")):
        samples += len(piece)
        failed += len(piece) - piece.column("error").null_count
        for name in piece.column_names:
            column = piece.column(name)
            if name == "error" or not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
                continue
            values = column.drop_null().to_numpy(zero_copy_only=False).astype(np.float64)
            finite = values[np.isfinite(values)]
            total = sums.setdefault(name, [0.0, 0, 0])
            total[0] += float(finite.sum())
            total[1] += len(finite)
            total[2] += len(values) - len(finite)
    means = {name: total / count if count else None for name, (total, count, _) in sums.items()}
    not_finite = {name: int(bad) for name, (_, _, bad) in sums.items() if bad}
    return {"samples": samples, "failed": failed, "means": means, "not_finite": not_finite}
