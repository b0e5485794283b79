"""What a loss without a number of its own comes to: of every step, from the coarse copy where that tells enough."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.capture.coarse_writer import CoarseWriter
from cutaway.capture.statistics_batch import Part, side_by_side, statistics_batch
from cutaway.run import Run, RunState, TableWriter, WriterId
from cutaway.run.schemas import STATISTICS, STEPS
from cutaway.tensors.statistic_names import STATISTIC_COLUMNS
from cutaway.trial.loss_totals import LossTotals
from cutaway.trial.raw_statistics import RawStatistics
from cutaway.trial.run_totals import RunTotals
from cutaway.trial.series_totals import Key
from cutaway.trial.trial import Trial

LOSS = "CrossEntropyLoss_output_0"
TENSORS = ("fc.weight", LOSS)
# Of each step: in which mode it was, and what the loss came to.
Steps = Sequence[tuple[str, float]]


class Training:
    """Writes steps with the statistics of a weight and of a loss, and beside them the coarse copy."""

    def __init__(self, path: Path, *, coarse: bool = True) -> None:
        self.run = Run.create(path)
        self.attempt, self.lease = self.run.begin_attempt(from_step=0)
        self.coarse = coarse
        self._begin()

    def _begin(self) -> None:
        self.tables: dict[str, TableWriter] = {}
        self.writer = CoarseWriter(self._table) if self.coarse else None

    def _table(self, name: str) -> TableWriter:
        return self.tables.setdefault(name, self.run.writer(name, WriterId("train", "worker_0", self.attempt)))

    def write(self, steps: Steps, first: int = 0, group: int = 5, *, listed: bool = True) -> None:
        for start in range(0, len(steps), group):
            some = list(enumerate(steps))[start : start + group]
            parts = [self._part(first + place, value) for place, (_, value) in some]
            matrices = side_by_side(parts)
            self._table(STATISTICS).append(statistics_batch(parts, matrices), parts[0].step)
            if self.writer is not None:
                self.writer.add(parts, matrices)
            for place, (mode, _) in some if listed else ():
                row = {"step": first + place, "mode": mode, "mode_step": place, "time": 1e9 + place}
                rest = {"statistics": True, "thinned": 0}
                self._table(STEPS).append_rows({k: [v] for k, v in {**row, **rest}.items()}, first + place)

    def _part(self, step: int, value: float) -> Part:
        numbers = np.array([1.0, value])
        nothing = np.zeros(2, np.int64)
        counts = {"size": nothing + 8, "zeros": nothing, "nonfinite": np.where(np.isfinite(numbers), 0, 3)}
        return Part(step, pa.array(TENSORS), {**dict.fromkeys(STATISTIC_COLUMNS, numbers), **counts})

    def resume(self, from_step: int) -> None:
        self.close(RunState.FAILED)
        self.attempt, self.lease = self.run.begin_attempt(from_step=from_step)
        self._begin()

    def close(self, state: RunState = RunState.FINISHED) -> None:
        if self.writer is not None:
            self.writer.flush()
        for table in self.tables.values():
            table.close()
        self.lease.release(state)


def expected(steps: Steps) -> dict[Key, tuple[object, ...]]:
    """Return the totals of all steps, counted one by one."""
    found: dict[Key, tuple[object, ...]] = {}
    for mode in {mode for mode, _ in steps}:
        mine = [(step, value) for step, (one, value) in enumerate(steps) if one == mode]
        finite = [value for _, value in mine if math.isfinite(value)]
        ends = (repr(mine[0][1]), mine[0][0], repr(mine[-1][1]), mine[-1][0])
        counts = (len(mine), len(mine) - len(finite))
        found[LOSS, mode] = (*counts, *ends, min(finite, default=None), max(finite, default=None))
    return found


def seen(totals: LossTotals | RunTotals) -> dict[Key, tuple[object, ...]]:
    return {
        key: (
            *(one.count, one.nonfinite, repr(one.first), one.first_step),
            *(repr(one.last), one.last_step, one.min, one.max),
        )
        for key, one in totals.series.items()
    }


def a_training(count: int = 400) -> list[tuple[str, float]]:
    """Epochs of 90 steps and 10 of validation; at one step the loss is NaN; the best is in the middle."""
    return [
        ("EVAL" if step % 100 >= 90 else "TRAIN", math.nan if step == 205 else abs(step - 170.25) + 0.5)
        for step in range(count)
    ]


@pytest.fixture
def training(tmp_path: Path) -> Training:
    return Training(tmp_path / "run")


@settings(max_examples=40)
@given(
    blocks=st.lists(st.tuples(st.sampled_from(["TRAIN", "EVAL"]), st.integers(1, 150)), max_size=5),
    seed=st.integers(0, 9),
    faults=st.lists(st.tuples(st.integers(0, 300), st.sampled_from([1, 1, 200])), max_size=3),
    cut=st.integers(0, 400),
    coarse=st.booleans(),
)
def test_the_totals_are_those_of_every_step_however_the_run_grows(
    blocks: list[tuple[str, int]],
    seed: int,
    faults: list[tuple[int, int]],
    cut: int,
    coarse: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    modes = [mode for mode, count in blocks for _ in range(count)]
    values = np.random.default_rng(seed).normal(size=len(modes)).tolist()
    broken = {step for start, count in faults for step in range(start, start + count)}
    steps = [(mode, math.nan if i in broken else values[i]) for i, mode in enumerate(modes)]
    training = Training(tmp_path_factory.mktemp("runs") / "a", coarse=coarse)
    growing = LossTotals(training.run)
    training.write(steps[:cut])
    growing.poll()
    assert seen(growing) == expected(steps[:cut])
    training.write(steps[cut:], first=min(cut, len(steps)))
    training.close()
    growing.poll()
    whole = LossTotals(training.run)
    whole.poll()
    assert seen(growing) == seen(whole) == expected(steps)


def test_last_and_best_are_exact_though_a_glance_would_miss_them(training: Training) -> None:
    steps = a_training(3000)
    training.write(steps)
    training.close()
    totals = RunTotals(training.run)
    totals.poll()
    loss = totals.glance_at_loss()
    assert loss is not None
    assert (loss.name, loss.last, loss.best) == (LOSS, 2989 - 170.25 + 0.5, 0.75)
    assert totals.loss_key == (LOSS, "TRAIN")


def test_the_best_never_gets_worse_as_the_run_goes_on(training: Training) -> None:
    totals = RunTotals(training.run)
    steps, best = a_training(1000), math.inf
    for start in range(0, 1000, 70):
        training.write(steps[start : start + 70], first=start)
        totals.poll()
        loss = totals.glance_at_loss()
        assert loss is not None
        assert loss.best is not None
        assert loss.best <= best
        best = loss.best
    training.close()


def test_a_step_whose_row_is_not_there_yet_does_not_count(training: Training) -> None:
    training.write([("TRAIN", 3.0), ("TRAIN", 2.0)])
    training.write([("EVAL", 1.0)], first=2, listed=False)
    totals = LossTotals(training.run)
    totals.poll()
    assert seen(totals) == expected([("TRAIN", 3.0), ("TRAIN", 2.0)])
    training.close(RunState.FAILED)
    totals.poll()
    assert seen(totals) == expected([("TRAIN", 3.0), ("TRAIN", 2.0)])


def test_what_a_later_attempt_replaced_does_not_count(training: Training) -> None:
    totals = LossTotals(training.run)
    training.write([("TRAIN", 0.0)] * 200)
    totals.poll()
    training.resume(from_step=100)
    training.write([("TRAIN", 5.0)] * 50, first=100)
    training.close()
    totals.poll()
    assert seen(totals) == expected([("TRAIN", 0.0)] * 100 + [("TRAIN", 5.0)] * 50)


def test_a_loss_that_was_saved_as_a_number_is_the_loss(training: Training) -> None:
    training.write(a_training(100))
    row = {"name": ["val_loss"], "step": [3], "mode": ["EVAL"], "value": [0.25], "time": [0.0]}
    training._table("scalars").append_rows(row, 3)
    training.close()
    totals = RunTotals(training.run)
    totals.poll()
    assert list(totals.series) == [("val_loss", "EVAL")]
    assert totals.loss_key == ("val_loss", "EVAL")


def test_of_a_long_run_few_single_steps_are_read(training: Training, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of ten thousand runs must not read all statistics of each."""
    steps = [("TRAIN", math.nan if step >= 64 * 40 + 7 else float(step)) for step in range(64 * 60)]
    training.write(steps)
    training.close()
    asked: list[tuple[int, int]] = []
    chunks: Callable[..., object] = RawStatistics.chunks

    def counted(self: RawStatistics, worker: str, start: int, stop: int) -> object:
        if stop < 2**40:
            asked.append((start, stop))
        return chunks(self, worker, start, stop)

    monkeypatch.setattr(RawStatistics, "chunks", counted)
    totals = LossTotals(training.run)
    totals.poll()
    assert seen(totals) == expected(steps)
    # The first stretch, for its first value, and the one in which the loss becomes NaN.
    assert sum(stop - start for start, stop in asked) <= 2 * 64
    totals.poll()
    assert len(asked) <= 2


def test_a_trial_tells_the_same(training: Training) -> None:
    training.write(a_training())
    training.close()
    totals = LossTotals(training.run)
    totals.poll()
    assert Trial(training.run).loss_totals() == totals.series != {}


def test_an_outline_of_a_long_loss_ends_where_the_loss_does(training: Training) -> None:
    training.write([("TRAIN", float(step)) for step in range(1000)])
    training.close()
    totals = RunTotals(training.run)
    totals.poll()
    loss = totals.glance_at_loss()
    assert loss is not None
    values = [value for value in loss.values if value is not None]
    assert len(values) == len(loss.values) <= 48
    assert values == sorted(values)
    assert values[-1] > 900
