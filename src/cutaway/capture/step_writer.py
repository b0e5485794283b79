"""Turns step records into rows of the run's tables: statistics, kept tensors, per-sample values, scalars, steps.

Runs on the writer thread only. The row in `trace/steps` is written last: a step that is listed is complete.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cutaway.arrays import Array, Float32Array
from cutaway.capture.budget import DiskBudget
from cutaway.capture.coarse_writer import CoarseWriter
from cutaway.capture.records import Layout, Offer, Slab, StepRecord
from cutaway.capture.selection import Keep, Selection
from cutaway.capture.statistics_batch import Part, of_one_number, side_by_side, statistics_batch
from cutaway.run.schemas import SCALARS, STATISTICS, STEPS, TENSORS, VALUES
from cutaway.run.segments import TableWriter
from cutaway.tensors.blocked_statistics import StatisticsPlan
from cutaway.tensors.statistic_names import STATISTIC_COLUMNS
from cutaway.tensors.statistics import reduce, reference_statistics
from cutaway.tensors.training_steps import TrainingSteps

__all__ = ["StepWriter"]

Columns = dict[str, Array]
# Plans for activations, by their sizes.
MOST_PLANS = 16


class _Kept(NamedTuple):
    """A tensor to be written: its numbers for reductions, its raw bytes where they are wanted."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    numbers: Array
    raw: Array | None
    reductions: tuple[tuple[str, bool], ...]


class StepWriter:
    """Writes the records of one hook."""

    def __init__(
        self,
        table: Callable[[str], TableWriter],
        selection: Selection,
        budget: DiskBudget,
        released: Callable[[Slab], None],
        spend: Callable[[], None],
        *,
        taken: Callable[[StepRecord, list[Part]], None] | None = None,
    ) -> None:
        self._table = table
        self._selection = selection
        self._budget = budget
        self._released = released
        self._spend = spend
        self._taken = taken
        self._coarse = CoarseWriter(table)
        self._training = TrainingSteps()
        self._evaluated: set[int] = set()  # of the last steps, those that evaluate
        self._previous: Slab | None = None
        self._plans: dict[tuple[int, ...], StatisticsPlan] = {}
        self._names: dict[int, tuple[Layout, pa.Array]] = {}
        self.refused = 0  # tensors that did not fit the disk budget

    def write(self, records: Sequence[StepRecord]) -> None:
        """Write a group of records, oldest first."""
        parts = [self._write_tensors(record) for record in records]
        statistics = [part for own in parts for part in own]
        matrices = side_by_side(statistics)
        if statistics:
            self._table(STATISTICS).append(statistics_batch(statistics, matrices), records[0].step)
        for record in records:
            values = _value_columns(record)
            if values is not None:
                self._table(VALUES).append_rows(values, record.step)
        scalars = [(name, r.step, r.mode.name, value, r.time) for r in records for name, value in r.scalars]
        if scalars:
            self._table(SCALARS).append_records(scalars, records[0].step)
        steps = [_step_row(record) for record in records if record.listed]
        if steps:
            self._table(STEPS).append_records(steps, records[0].step)
        self._coarse.add(statistics, matrices, self._evaluations(records))
        if self._taken is not None:
            for record, own in zip(records, parts, strict=True):
                self._taken(record, own)

    def _evaluations(self, records: Sequence[StepRecord]) -> set[int]:
        """Return which of these steps evaluate; what is added to a step that was listed earlier goes with it."""
        listed = [record for record in records if record.listed]
        if listed:
            modes = np.array([record.mode.name for record in listed], object)
            optimizer = np.array([record.seconds.get("optimizer", math.nan) for record in listed])
            trains = self._training.among({"mode": modes, "optimizer": optimizer})
            earlier = {record.step for record in records} & self._evaluated
            self._evaluated = earlier | {record.step for record, one in zip(listed, trains, strict=True) if not one}
        return self._evaluated

    def close(self) -> None:
        """Write what waits for more steps."""
        self._coarse.flush()

    def _write_tensors(self, record: StepRecord) -> list[Part]:
        """Write what is kept of a step's tensors, and return their statistics."""
        slab, parts = record.slab, list[Part]()
        try:
            if slab is not None and slab.scale != 1.0:
                _unscale(slab)
            due = record.due
            nan_watch = self._selection.nan_watch
            if record.statistics or nan_watch:
                parts = self._statistics(record)
                due |= nan_watch.due_after(parts)
            if due:
                self._write_kept(record, due)
        finally:
            if slab is not None:
                self._keep_previous(slab, record)
        return parts if record.statistics else []

    def _keep_previous(self, slab: Slab, record: StepRecord) -> None:
        """Hold the slab of the last statistics: the next one measures the change against it."""
        if not record.statistics:
            self._released(slab)
            return
        before, self._previous = self._previous, slab
        if before is not None:
            self._released(before)

    def _statistics(self, record: StepRecord) -> list[Part]:
        parts = []
        if record.slab is not None:
            parts.append(Part(record.step, *self._slab_statistics(record.slab)))
        if record.offers:
            active = [_activity(offer) if offer.activity else None for offer in record.offers]
            parts.append(Part(record.step, *self._offer_statistics(record.offers), active if any(active) else None))
        return parts

    def _slab_statistics(self, slab: Slab) -> tuple[pa.Array, Columns]:
        layout = slab.layout
        previous = self._previous.buffer if self._previous and self._previous.layout is layout else None
        columns = layout.plan.compute(slab.buffer, previous, 0 if previous is None else layout.changing)
        names = self._names.setdefault(id(layout), (layout, pa.array(layout.names)))[1]
        if all(slab.present):
            return names, columns
        present = np.flatnonzero(slab.present)
        return names.take(pa.array(present)), {name: column[present] for name, column in columns.items()}

    def _offer_statistics(self, offers: Sequence[Offer]) -> tuple[pa.Array, Columns]:
        """Statistics of tensors that came one by one: floats of up to 32 bits together, the others exactly."""
        columns: Columns = {name: np.full(len(offers), np.nan) for name in STATISTIC_COLUMNS}
        numbers = [offer.numbers() for offer in offers]
        single = [i for i, array in enumerate(numbers) if array.size == 1]
        fast = [i for i, array in enumerate(numbers) if array.size != 1 and array.dtype in (np.float32, np.float16)]
        if fast:
            sizes = tuple(numbers[i].size for i in fast)
            plan = self._plans.get(sizes)
            if plan is None:
                if len(self._plans) >= MOST_PLANS:
                    # Batches of ever new sizes: what was kept for the old ones would never be used again.
                    self._plans.clear()
                plan = self._plans[sizes] = StatisticsPlan([(str(k), size) for k, size in enumerate(sizes)])
            buffer = np.zeros(plan.size, np.float32)
            for place, i in zip(plan.slices, fast, strict=True):
                buffer[place] = numbers[i].reshape(-1)
            for name, column in plan.compute(buffer, None, 0).items():
                columns[name][fast] = column
        for i in single:
            for name, value in of_one_number(float(numbers[i].reshape(-1)[0])).items():
                columns[name][i] = value
        for i in set(range(len(offers))).difference(fast, single):
            exact = reference_statistics(numbers[i])
            for name in STATISTIC_COLUMNS[:-1]:
                columns[name][i] = getattr(exact, name)
        return pa.array([offer.name for offer in offers]), columns

    def _write_kept(self, record: StepRecord, due: frozenset[str]) -> None:
        kept = [*self._kept_of_slab(record.slab, due), *self._kept_of_offers(record.offers, due)]
        raw = [one.raw for one in kept if one.raw is not None]
        if not self._budget.fits(sum(array.nbytes for array in raw)):
            self.refused += len(raw)
            return
        if not kept:
            return
        rows: dict[str, Sequence[object]] = {
            "step": [record.step] * len(kept),
            "tensor": [one.name for one in kept],
            "dtype": [one.dtype for one in kept],
            "shape": [one.shape for one in kept],
            "reductions": [_reductions(one) or None for one in kept],
        }
        self._table(TENSORS).append_tensors(rows, record.step, [one.raw for one in kept])
        if raw:
            # At once: the next step of this group asks whether its own still fit.
            self._spend()

    def _kept_of_slab(self, slab: Slab | None, due: frozenset[str]) -> list[_Kept]:
        if slab is None:
            return []
        kept, layout = [], slab.layout
        for i, name in enumerate(layout.names):
            keep = self._selection.keep(name, due) if slab.present[i] else None
            if keep is not None:
                numbers = slab.values(i)
                raw = _in_own_dtype(numbers, layout.dtypes[i]) if keep.raw else None
                kept.append(_Kept(name, layout.dtypes[i], layout.shapes[i], numbers, raw, keep.reductions))
        return kept

    def _kept_of_offers(self, offers: Sequence[Offer], due: frozenset[str]) -> list[_Kept]:
        kept = []
        for offer in offers:
            keep: Keep | None = self._selection.keep(offer.name, due)
            if keep is not None:
                raw = np.ascontiguousarray(offer.array).reshape(-1) if keep.raw else None
                shape = tuple(offer.array.shape)
                kept.append(_Kept(offer.name, offer.dtype, shape, offer.numbers(), raw, keep.reductions))
        return kept


def _unscale(slab: Slab) -> None:
    start = slab.layout.plan.slices[slab.layout.changing].start if slab.layout.changing < len(slab.present) else 0
    slab.buffer[start:] *= np.float32(1.0 / slab.scale)


def _in_own_dtype(numbers: Float32Array, dtype: str) -> Array:
    """Return the bytes as the tensor had them: widening to float32 lost nothing, so narrowing does not either."""
    if dtype == "bfloat16":
        return (numbers.view(np.uint32) >> 16).astype(np.uint16)
    return numbers if dtype == "float32" else numbers.astype(dtype)


def _reductions(kept: _Kept) -> list[tuple[str, float]]:
    return [
        (f"abs_{name}" if absolute else name, float(reduce(kept.numbers, name, abs=absolute)))
        for name, absolute in kept.reductions
    ]


def _activity(offer: Offer) -> list[float]:
    """The share of positive values of each channel: axis 1, or the last of a vector."""
    positive = offer.numbers() > 0
    channel = min(1, positive.ndim - 1)
    axes = tuple(axis for axis in range(positive.ndim) if axis != channel)
    if not positive.size:
        # Numpy would warn of the mean of nothing, in the user's terminal.
        return [math.nan] * (positive.shape[channel] if positive.ndim else 1)
    # As the table keeps them: whoever reads them there or here sees the same.
    shares: list[float] = np.atleast_1d(positive.mean(axis=axes)).astype(np.float32).tolist()
    return shares


def _step_row(record: StepRecord) -> tuple[object, ...]:
    """Return the row of `trace/steps`, in the order of its schema."""
    seconds = (record.seconds.get(phase) for phase in ("data", "forward", "backward", "optimizer"))
    begin = (record.step, record.mode.name, record.mode_step, record.epoch, record.time)
    return (*begin, *seconds, record.samples, record.statistics, record.thinned)


def _value_columns(record: StepRecord) -> dict[str, pa.Array] | None:
    """Return the rows of `values` that a step has: every known sample of every batch under every name."""
    samples, names, values = list[pa.Array](), list[pa.Array](), list[pa.Array]()
    for batch, compute in record.sample_values:
        known = np.array([sample is not None for sample in batch], bool)
        column = pa.array([sample for sample in batch if sample is not None], pa.string())
        for name, numbers in compute().items():
            samples.append(column)
            names.append(pa.repeat(pa.scalar(name), len(column)))
            values.append(pa.array(np.asarray(numbers, np.float64)[known]))
    if not samples:
        return None
    columns = {"sample": pa.concat_arrays(samples), "name": pa.concat_arrays(names), "value": pa.concat_arrays(values)}
    return {"step": pa.array(np.full(len(columns["sample"]), record.step)), **columns}
