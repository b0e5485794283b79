"""Follows a run folder while it grows: polls the tables in the right order, keeps the indexes, names damage.

The writer writes the row in `trace/steps` after all else of a step. So the steps are read first, and the other tables,
whenever somebody needs them, only as far as steps are listed: whatever a trial shows of a step is all there. Once the
training has ended, tensors of a step that was never listed can be read too; the step stays unlisted.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable

from cutaway.errors import ConfigurationError
from cutaway.run.identity import Run
from cutaway.run.leases import RunState
from cutaway.run.schemas import STATISTICS, STEPS, TENSORS
from cutaway.run.tables import Damage, TableReader
from cutaway.trial.listed_rows import Listed, ListedRows
from cutaway.trial.liveness import Liveness
from cutaway.trial.saved_tensors import SavedTensors
from cutaway.trial.statistics_index import StatisticsIndex
from cutaway.trial.step_index import StepIndex, StepRange

__all__ = ["Follower"]

log = logging.getLogger("cutaway.trial")

WINDOW = "CUTAWAY_INCOMPLETE_STEP_WAIT_WINDOW"
# A value that has been found is not looked for again within this time: reading many values must not list the folder
# for each of them.
STALE_SECONDS = 0.05


class Follower:
    """What a trial knows of its run."""

    def __init__(self, run: Run, within: StepRange) -> None:
        self.run = run
        self.steps = StepIndex(within, _window())
        self.dynamic = True  # whether queries look for what is new
        self.looks = 0  # how often it has looked for what is new, as long as something new may come
        self.loaded_all = False
        self.damage: list[Damage] = []
        self.attempts = list(run.attempts())
        self._liveness = Liveness(run)
        self._state = RunState.RUNNING
        self.fresh_until = 0.0  # until then nothing new is looked for where something was found
        self._readers: dict[str, TableReader] = {}
        self._named: dict[str, int] = {}
        self._ended: set[str] = set()  # tables whose ends have been checked
        self._tensors, self._statistics = SavedTensors(), StatisticsIndex()
        self._tensor_rows = ListedRows(self.reader(TENSORS), self.steps)
        self._statistic_rows = ListedRows(self.reader(STATISTICS), self.steps)
        self._tensors_at = self._statistics_at = -1
        self.name_damage(run.damage)
        self.refresh()

    def reader(self, table: str) -> TableReader:
        """Return this trial's reader of a table."""
        if table not in self._readers:
            # Not the run's own list of attempts: within one refresh all tables must agree about it.
            self._readers[table] = TableReader(self.run.storage, table, lambda: self.attempts)
        return self._readers[table]

    def refresh_if_stale(self) -> None:
        """Look for what is new, unless that was done a moment ago."""
        if time.monotonic() >= self.fresh_until:
            self.maybe_refresh()

    def maybe_refresh(self) -> None:
        """Look for what is new, unless the trial was told not to."""
        if self.dynamic:
            self.refresh()

    def refresh(self) -> None:
        """Look for what is new. Once the run has ended and all is read, only for another attempt."""
        if self.loaded_all and self._state is not RunState.LOST and self.run.attempts() == self.attempts:
            self.fresh_until = time.monotonic() + STALE_SECONDS
            return
        self.looks += 1
        state = self.state()
        reader = self.reader(STEPS)
        fresh = reader.poll()
        # Attempts are listed before they write: read after the rows, the list covers all of them.
        attempts = list(self.run.attempts())
        if attempts != self.attempts:
            self.attempts = attempts
            self._start_over()
        else:
            for batch in fresh:
                self.steps.add(batch, reader.limit(batch.segment))
        # The state was looked at before the rows were: where it says that the run had ended, these are all.
        self._judge(ended=state.has_ended)
        self.note_damage(STEPS)
        self.fresh_until = time.monotonic() + STALE_SECONDS

    def state(self) -> RunState:
        """Say what became of the training, without waiting."""
        found = self._liveness.look()
        self._state = RunState(self.run.identity.get("state", RunState.ENDED)) if found is None else found
        return self._state

    def workers(self) -> set[str]:
        """Return who has written to the run, or is about to."""
        return self.steps.workers() | self._liveness.workers

    def tensors(self) -> SavedTensors:
        """Return the saved tensors of all listed steps; of such a step more may be saved after it was listed."""
        if self._tensors_at != self.looks:
            reader = self.reader(TENSORS)
            for listed in self._tensor_rows.poll():
                self._tensors.add(listed, reader.raw_file(listed.batch.segment))
            self._tensors_at = self.looks
            if self.loaded_all and self._state is not RunState.LOST:
                reader.settle()
                # What `save_tensor` has acknowledged is there, also where a kill came before the end of its step.
                for batch in self._tensor_rows.strays():
                    self._tensors.add(Listed(batch, set()), reader.raw_file(batch.segment))
            self.note_damage(TENSORS)
        return self._tensors

    def statistics(self) -> StatisticsIndex:
        """Return the statistics of all listed steps."""
        if self._statistics_at != self.steps.version:
            for listed in self._statistic_rows.poll():
                self._statistics.add(listed)
            self._statistics_at = self.steps.version
            self.note_damage(STATISTICS)
        return self._statistics

    def note_damage(self, table: str) -> None:
        """Name what the reader of a table has found since the last time."""
        found, seen = self._readers[table].damage, self._named.get(table, 0)
        if len(found) > seen:
            self._named[table] = len(found)
            self.name_damage(found[seen:])
        if self.loaded_all and table not in self._ended:
            self._ended.add(table)
            self.name_damage(self._readers[table].lost_ends(self._liveness.closed))

    def name_damage(self, found: Iterable[Damage]) -> None:
        """Record damage and log each once: a gap in what is shown is never silent."""
        for damage in found:
            if damage not in self.damage:
                self.damage.append(damage)
                at = "" if damage.step is None else f" (step {damage.step})"
                log.warning(
                    "Run %r is damaged: %s at byte %d%s: %s. The rest of the run still reads.",
                    *(self.run.name, damage.path, damage.offset, at, damage.reason),
                )

    def _start_over(self) -> None:
        """Index every row again: a new attempt hides steps that older ones wrote."""
        reader = self.reader(STEPS)
        self.steps.clear()
        for batch in reader.batches:
            self.steps.add(batch, reader.limit(batch.segment))
        self._ended.clear()
        self._tensors.clear()
        self._statistics.clear()
        self._tensor_rows.restart()
        self._statistic_rows.restart()

    def _judge(self, *, ended: bool) -> None:
        newest = max((attempt.number for attempt in self.attempts), default=0)
        listed = self.run.identity.get("attempts") or [{}]
        # Those who have finished early write no more; those who hold a lease will.
        writing = self._liveness.workers if self._liveness.attempt == newest else self.steps.workers(newest)
        missing = max(int(listed[-1].get("workers", 1)) - len(writing | self.steps.workers(newest)), 0)
        self.steps.judge(writing, newest, ended=ended, missing=missing)
        if ended and not self.loaded_all:
            self.steps.version += 1  # the other tables are read once more, and their files no longer grow
        self.loaded_all = ended


def _window() -> int:
    text = os.environ.get(WINDOW, "1000")
    if not text.isdigit() or int(text) < 1:
        raise ConfigurationError(f"`{WINDOW} >= 1` must hold, but got {text!r}.")
    return int(text)
