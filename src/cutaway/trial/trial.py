"""A run, seen from outside: which tensors and steps it has, now and while it grows.

Never writes and never locks. One trial belongs to one thread.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection as IterableCollection
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cutaway.arrays import Array
from cutaway.errors import (
    ConfigurationError,
    RunDamaged,
    RunFormatError,
    TensorUnavailable,
    TensorUnavailableForStep,
    did_you_mean,
)
from cutaway.run.identity import Run
from cutaway.run.schemas import FINDINGS, SCALARS, STEPS, VALUES
from cutaway.tensors.collection import Collection
from cutaway.tensors.collections import PARAMETERS, Collections
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.settings import compile_pattern, texts
from cutaway.tensors.statistics_blocks import StatisticsBlock
from cutaway.trial.collections_file import read_collections
from cutaway.trial.follower import Follower
from cutaway.trial.growing import Columns
from cutaway.trial.html import facts_table, listed
from cutaway.trial.loss_totals import LossTotals
from cutaway.trial.overview import OverviewReader
from cutaway.trial.scalar_series import ScalarPoints, ScalarSeries
from cutaway.trial.series_totals import Key, SeriesTotals
from cutaway.trial.statistics_index import StatisticsIndex
from cutaway.trial.step_columns import StepColumns
from cutaway.trial.step_index import StepRange
from cutaway.trial.step_queries import Mode, StepQueries
from cutaway.trial.tables import filtered, findings_table, rows_in_range, samples_at, with_modes
from cutaway.trial.tensor import Tensor, checked_value
from cutaway.trial.windows import StepWindows, ValueWindow

__all__ = ["Trial"]


class _Collections(NamedTuple):
    """The collections as they were read, after which look of the follower, and whether they can still change."""

    content: Collections
    looked: int
    final: bool


class Trial(StepQueries):
    """A run folder for reading, live or afterwards.

    Every query looks for what is new, unless the run has ended and all of it has been read, or inside `no_refresh`.
    Steps are numbered in the `mode` that is given beside them; by default globally, over all modes.
    """

    def __init__(self, run: Run, *, name: str | None = None, within: StepRange | None = None) -> None:
        super().__init__(Follower(run, within or StepRange()))
        self.run = run
        self.name = name or run.name
        self.path = run.path
        self._tensors: dict[str, Tensor] = {}
        self._windows = StepWindows(self._follower)
        self._series = ScalarSeries(self._follower)
        self._step_columns = StepColumns(self._follower)
        self.overviews = OverviewReader(run)  # of statistics, without reading every row
        self._losses = LossTotals(run, self.overviews.stretches)
        self._values = ValueWindow(self._follower)
        self._collections: _Collections | None = None

    def __repr__(self) -> str:
        return f"Trial({str(self.path)!r})"

    def _repr_html_(self) -> str:
        steps, names = self.steps(), self.tensor_names()
        facts = {
            "state": self.state(),
            "saved steps": listed(steps),
            "recorded steps": f"{len(self.recorded_steps()):,}",
            "modes": listed([mode.name for mode in self.modes()]),
            "tensors": listed(names),
            "workers": listed(self.workers()),
        }
        if self.damage:
            facts["damage"] = f"{len(self.damage)}, first: {self.damage[0].path}: {self.damage[0].reason}"
        return facts_table(f"Run {self.name}", facts)

    # -- tensors ---------------------------------------------------------------------------------------------------

    def tensor_names(
        self,
        step: int | None = None,
        mode: Mode = ModeKeys.GLOBAL,
        regex: str | Iterable[str] | None = None,
        collection: str | Collection | None = None,
    ) -> list[str]:
        """Return the sorted names of the tensors that were saved or have statistics.

        `step`, numbered in `mode`, asks for those of one step; `mode` alone for those of one mode; `regex`, one or
        several, for those that it finds anywhere in the name; `collection` for those of a collection.
        """
        if regex is not None and collection is not None:
            raise ConfigurationError(f"Give `regex` or `collection`, not both, but got {regex=}, {collection=}.")
        self._follower.maybe_refresh()
        steps = self._steps_meant(step, ModeKeys.parse(mode))
        names = self._follower.tensors().names(steps) | self._follower.statistics().names(steps)
        if regex is not None:
            patterns = [compile_pattern(text, "regex") for text in texts(regex, "regex")]
            names = {name for name in names if any(pattern.search(name) for pattern in patterns)}
        if collection is not None:
            wanted = collection if isinstance(collection, Collection) else self.collection(collection)
            names = {name for name in names if wanted.matches(name)}
        return sorted(names)

    def tensors(self) -> list[str]:
        """Return the names of all tensors; the seeds' word for `tensor_names()`."""
        return self.tensor_names()

    def tensors_matching_regex(self, regex_list: str | Iterable[str]) -> list[str]:
        """Return the names that one of the patterns finds; the seeds' word for `tensor_names(regex=...)`."""
        return self.tensor_names(regex=regex_list)

    def tensors_in_collection(self, name: str) -> list[str]:
        """Return the names in a collection; the seeds' word for `tensor_names(collection=...)`."""
        return self.tensor_names(collection=name)

    def has_tensor(self, name: str) -> bool:
        """Whether a tensor was saved or has statistics."""
        self._follower.maybe_refresh()
        return self._has(name)

    def tensor(self, name: str) -> Tensor:
        """Return a tensor. Raises `TensorUnavailable`, with the nearest names, where there is none."""
        found = self._tensors.get(name)
        if found is None:
            self._follower.maybe_refresh()
            if not self._has(name):
                raise TensorUnavailable(name, self.name, self.tensor_names())
            found = self._tensors[name] = Tensor(name, self, self._follower)
        return found

    def collections(self) -> dict[str, Collection]:
        """Return the collections of the run, by name."""
        return {collection.name: collection for collection in self._read_collections()}

    def collection(self, name: str) -> Collection:
        """Return one collection. Raises `ConfigurationError`, with the nearest names, where there is none."""
        collections = self._read_collections()
        if name not in collections:
            raise ConfigurationError(
                f"No collection {name!r} in run {self.name!r}.",
                hint=f"{did_you_mean(str(name), collections.names)} `trial.collections()` lists them.",
            )
        return collections.get(name)

    def inputs(self, step: int, mode: Mode = ModeKeys.GLOBAL) -> list[Array]:
        """Return the saved inputs of the model at a step, in the order of their names."""
        return self._values_of("inputs", step, mode)

    def labels(self, step: int, mode: Mode = ModeKeys.GLOBAL) -> list[Array]:
        """Return the saved labels that the loss received at a step."""
        return self._values_of("labels", step, mode)

    def predictions(self, step: int, mode: Mode = ModeKeys.GLOBAL) -> list[Array]:
        """Return the saved predictions that the loss received at a step."""
        return self._values_of("predictions", step, mode)

    def value(self, tensor: str, step: int) -> Array:
        """Return a tensor's value at a global step; short for `tensor(name).value(step)`."""
        return self.tensor(tensor).value(step)

    def samples(self, step: int) -> list[str | None] | None:
        """Return the ids of the samples that a global step was fed, of all workers; None where none are known."""
        self.mode(step)  # raises where there is no such step
        return samples_at(self._follower.reader(STEPS), self._follower.steps, step)

    def samples_window(self, start: int, stop: int) -> list[list[str | None] | None]:
        """Return what `samples` says of each step of `step_window(start, stop)`, in one go."""
        self._follower.maybe_refresh()
        return self._windows.samples(start, stop)

    def statistics_window(self, tensor: str, start: int, stop: int) -> dict[str, Array]:
        """Return the columns of a tensor's statistics for `start <= step < stop`, ascending; of the first worker."""
        self.tensor(tensor)  # raises where there is no such tensor
        self._follower.maybe_refresh()
        return self._computed([tensor], stop).window(tensor, start, stop)

    def statistics_blocks(
        self, tensors: IterableCollection[str], start: int, stop: int, *, before: int = 0, mode: Mode = ModeKeys.GLOBAL
    ) -> list[StatisticsBlock]:
        """Return the statistics of many tensors for `start <= step < stop` as dense matrices; see `TensorReader`."""
        self._follower.maybe_refresh()
        parsed, in_mode = ModeKeys.parse(mode), None
        if parsed is not ModeKeys.GLOBAL:
            in_mode = partial(np.isin, test_elements=self._follower.steps.global_steps(parsed))
        return self._computed(tensors, stop).blocks(tensors, start, stop, before, in_mode)

    def newest_step(self) -> int:
        """Return the last recorded step that is complete, or -1."""
        self._follower.maybe_refresh()
        return self._follower.steps.last_complete(ModeKeys.GLOBAL)

    def step_window(self, start: int, stop: int) -> dict[str, Array]:
        """Return times, phases and modes of the recorded steps with `start <= step < stop`, of the first worker."""
        self._follower.maybe_refresh()
        return self._windows.steps(start, stop)

    def scalar_names(self) -> list[str]:
        """Return the names of what was saved as single numbers, sorted."""
        self._follower.maybe_refresh()
        return self._windows.scalar_names()

    def scalar_window(self, name: str, start: int, stop: int, mode: Mode = ModeKeys.GLOBAL) -> dict[str, Array]:
        """Return the columns `step` and `value` of a scalar for `start <= step < stop`, of the first worker."""
        self._follower.maybe_refresh()
        return self._windows.scalar(name, start, stop, ModeKeys.parse(mode))

    def scalar_series(self) -> dict[tuple[str, str], ScalarPoints]:
        """Return every scalar of every mode as a series (step, value, time) by name and mode, of the first worker."""
        self._follower.maybe_refresh()
        return self._series.all()

    def loss_totals(self) -> Mapping[Key, SeriesTotals]:
        """Return what registered losses returned, as totals by tensor and mode; a step's value is its mean."""
        self._losses.poll()
        return self._losses.series

    def step_columns(self) -> Columns:
        """Return everything about the recorded steps but the ids of their samples, as columns in step order."""
        self._follower.maybe_refresh()
        return self._step_columns.all()

    def saved_names(self) -> set[str]:
        """Return the names of the tensors that were saved, in full or reduced, whether they have statistics or not."""
        self._follower.maybe_refresh()
        return self._follower.tensors().names()

    def values_window(self, start: int, stop: int) -> pa.Table:
        """Return what was saved of single samples for `start <= step < stop`: step, sample, name, value."""
        self._follower.maybe_refresh()
        return self._values.rows(start, stop)

    # -- tables for people -----------------------------------------------------------------------------------------

    def statistics(
        self,
        tensor: str | Sequence[str] | None = None,
        regex: str | Iterable[str] | None = None,
        collection: str | None = None,
        mode: Mode = ModeKeys.GLOBAL,
    ) -> pa.Table:
        """Return the statistics of every step and tensor, or of some, in step order.

        Columns: step, mode, mode_step, worker, tensor, size, nonfinite (how many values are NaN or infinite), zeros,
        min, max, mean, std, l1, l2, abs_min (all over the finite values), change (l2 norm of the change since the
        last statistics; weights only), active (share of positive values per channel, where it was asked).
        `.to_pandas()` gives a pandas frame, `polars.from_arrow(table)` a polars one.
        """
        self._follower.maybe_refresh()
        names: Sequence[str] | None = [tensor] if isinstance(tensor, str) else tensor
        if regex is not None or collection is not None:
            found = self.tensor_names(regex=regex, collection=collection)
            names = found if names is None else [name for name in names if name in found]
        table = self._follower.statistics().table(names)
        return filtered(with_modes(table, self._follower.steps), mode=ModeKeys.parse(mode))

    def scalars(self, name: str | Sequence[str] | None = None, mode: Mode = ModeKeys.GLOBAL) -> pa.Table:
        """Return losses, metrics, learning rates and what else was saved as a number, in step order.

        Columns: name, step, mode, value, time (seconds since 1970), worker.
        """
        return filtered(self._rows(SCALARS, listed=False), mode=ModeKeys.parse(mode), name=name)

    def step_table(self, mode: Mode = ModeKeys.GLOBAL) -> pa.Table:
        """Return one row per recorded step and worker, in step order.

        Columns: step, mode, mode_step, worker, epoch, time, the seconds of data, forward, backward and optimizer,
        samples (the ids of its batch), statistics (whether they were recorded), thinned (steps just before it that
        left no record).
        """
        table = self._rows(STEPS, listed=True)
        return filtered(with_modes(table, self._follower.steps), mode=ModeKeys.parse(mode))

    def sample_values(
        self,
        sample: str | Sequence[str] | None = None,
        name: str | Sequence[str] | None = None,
        mode: Mode = ModeKeys.GLOBAL,
    ) -> pa.Table:
        """Return what each sample's loss, margin and so on was each time that it was seen, in step order.

        Columns: step, mode, mode_step, worker, sample, name, value. Values may have been saved at a step that left no
        record of its own; its mode and mode_step are null.
        """
        table = with_modes(self._rows(VALUES, listed=False), self._follower.steps)
        return filtered(table, mode=ModeKeys.parse(mode), sample=sample, name=name)

    def findings(self) -> pa.Table:
        """Return what rules, checks and the capture itself concluded, oldest first; `run.findings()` as objects.

        Columns: id, code, severity, message, where (JSON), evidence (JSON), time, source.
        """
        self._follower.maybe_refresh()
        table = findings_table(self._follower.reader(FINDINGS))
        self._follower.note_damage(FINDINGS)
        return table

    # -- inside ----------------------------------------------------------------------------------------------------

    def _rows(self, table: str, *, listed: bool) -> pa.Table:
        self._follower.maybe_refresh()
        found = rows_in_range(self._follower.reader(table), self._follower.steps, listed=listed)
        self._follower.note_damage(table)
        return found

    def _computed(self, tensors: IterableCollection[str], stop: int) -> StatisticsIndex:
        """Return the statistics, with those of some tensors that were saved in full before `stop` without any."""
        found = self._follower.statistics()
        found.compute(tensors, stop, self._follower.tensors(), self._value_of_worker, self._is_parameter)
        return found

    def _is_parameter(self, name: str) -> bool:
        known = self.collections()
        return any(known[one].matches(name) for one in PARAMETERS if one in known)

    def _value_of_worker(self, name: str, step: int, worker: str) -> Array | None:
        saved = self._follower.tensors().steps_of(name)
        entry = None if saved is None else saved.by_worker.get(worker, {}).get(step)
        try:
            return None if entry is None else checked_value(name, entry, self._follower)
        except (RunDamaged, RunFormatError):
            # The damage has been named; of a type that numpy lacks nobody knows the value.
            return None

    def _has(self, name: str) -> bool:
        saved = self._follower.tensors().steps_of(name) is not None
        return saved or bool(self._follower.statistics().of(name))

    def _read_collections(self) -> Collections:
        follower, known = self._follower, self._collections
        follower.maybe_refresh()
        # While the run lives, a hook may still add to them; inside `no_refresh` one look is enough.
        if known is None or not (known.final or known.looked == follower.looks):
            found, damage = read_collections(self.run)
            follower.name_damage(damage)
            found = Collections() if found is None else found
            known = self._collections = _Collections(found, follower.looks, final=follower.loaded_all)
        return known.content

    def _values_of(self, collection: str, step: int, mode: Mode) -> list[Array]:
        found = []
        for name in sorted(self.tensor_names(step, mode, collection=collection), key=_natural):
            # Of some only reductions or statistics are kept.
            with contextlib.suppress(TensorUnavailableForStep):
                found.append(self.tensor(name).value(step, mode))
        return found


def _natural(name: str) -> list[str | int]:
    """Order `input_10` after `input_2`."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]
