"""The overview of a run: the same from the coarse copy, from the statistics, live, resumed and damaged."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from cutaway.capture.coarse_writer import CoarseWriter
from cutaway.capture.statistics_batch import Part, side_by_side, statistics_batch
from cutaway.errors import ConfigurationError, TensorUnavailable
from cutaway.run import Run, RunState, TableWriter, WriterId
from cutaway.run.schemas import OVERVIEW, STATISTICS, STEPS
from cutaway.run.segments import ENTRY, ENTRY_BYTES, parse_header
from cutaway.tensors.statistic_names import STATISTIC_COLUMNS
from cutaway.trial import overview as module
from cutaway.trial.overview import Overview, OverviewReader

TENSORS = ("w", "b", "gradient/w")


def value_of(step: int, tensor: int, attempt: int = 0) -> float:
    """What every statistic of a tensor is at a step; at one in a hundred there is none."""
    return math.nan if step % 100 == 17 else 1000.0 * attempt + 10 * tensor + math.sin(step) + step / 7


class Attempt:
    """Writes statistics, and beside them the coarse copy, as the writer thread does."""

    def __init__(self, run: Run, from_step: int = 0, *, coarse: bool = True, worker: str = "worker_0") -> None:
        if worker == "worker_0":
            self.number, self.lease = run.begin_attempt(from_step=from_step)
        else:
            self.number, self.lease = 0, run.join_attempt(worker, 0)
        who = WriterId("train", worker, self.number)
        self.tables: dict[str, TableWriter] = {}
        self.run, self.who, self.scale = run, who, 1.0
        self.coarse = CoarseWriter(self._table) if coarse else None

    def _table(self, name: str) -> TableWriter:
        return self.tables.setdefault(name, self.run.writer(name, self.who))

    def write(
        self, steps: Iterable[int], names: tuple[str, ...] = TENSORS, group: int = 7, mode: str = "TRAIN"
    ) -> Attempt:
        listed, evaluations = list(steps), set[int]()
        if mode != "TRAIN":
            evaluations.update(listed)
            self._table(STEPS).append_rows({"step": listed, "mode": [mode] * len(listed)}, min(listed))
        for start in range(0, len(listed), group):
            parts = [self._part(step, names) for step in listed[start : start + group]]
            matrices = side_by_side(parts)
            self._table(STATISTICS).append(statistics_batch(parts, matrices), listed[start])
            if self.coarse is not None:
                self.coarse.add(parts, matrices, evaluations)
        return self

    def _part(self, step: int, names: tuple[str, ...]) -> Part:
        numbers = self.scale * np.array([value_of(step, i, self.number) for i in range(len(names))])
        columns = dict.fromkeys(STATISTIC_COLUMNS, numbers)
        nothing = np.zeros(len(names), np.int64)
        columns |= {"size": nothing + 4, "zeros": nothing, "nonfinite": np.where(np.isnan(numbers), 4, 0)}
        return Part(step, pa.array(names), columns)

    def close(self) -> None:
        if self.coarse is not None:
            self.coarse.flush()
        for table in self.tables.values():
            table.close()
        self.lease.release(RunState.FINISHED)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run")


@pytest.fixture
def coarse_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where there are too many rows to look at each."""
    monkeypatch.setattr(module, "MOST_ROWS", 0)


def assert_holds(overview: Overview, value: Callable[[int, int], float], recorded: Iterable[int]) -> None:
    """Check every cell against all of its steps."""
    steps = np.array(sorted(recorded))
    names = overview.tensors
    assert overview.min.shape == (len(names), len(overview.steps) - 1)
    assert overview.min.dtype == overview.nonfinite.dtype == np.float32
    for column, (start, stop) in enumerate(zip(overview.steps[:-1], overview.steps[1:], strict=True)):
        own = steps[(steps >= start) & (steps < stop)].tolist()
        for row in range(len(names)):
            numbers = [value(step, row) for step in own]
            known = [number for number in numbers if not math.isnan(number)]
            wanted = [min(known, default=math.nan), max(known, default=math.nan), numbers[-1]]
            found = [overview.min[row, column], overview.max[row, column], overview.last[row, column]]
            assert np.array_equal(np.float32(wanted), np.float32(found), equal_nan=True), (row, start, stop)
            assert overview.nonfinite[row, column] == (4 if len(known) < len(numbers) else 0)


@pytest.mark.usefixtures("coarse_only")
@pytest.mark.parametrize("coarse", [True, False], ids=["written with it", "written without it"])
@pytest.mark.parametrize("closed", [True, False], ids=["closed", "killed or live"])
def test_every_column_holds_all_of_its_steps(run: Run, *, coarse: bool, closed: bool) -> None:
    attempt = Attempt(run, coarse=coarse).write(range(333))
    if closed:
        attempt.close()
    found = OverviewReader(run).read(statistic="l2")
    assert found.tensors == list(TENSORS)
    assert found.steps.tolist() == [0, 64, 128, 192, 256, 320, 333]
    assert_holds(found, value_of, range(333))
    assert found.exact is False
    assert found.damage == ()
    assert ("no such copy" in found.approximate) is not coarse
    assert "about every 64 recorded steps" in found.approximate


@pytest.mark.usefixtures("coarse_only")
def test_many_stretches_are_merged_to_as_many_columns_as_there_is_room_for(run: Run) -> None:
    Attempt(run).write(range(1000)).close()
    found = OverviewReader(run).read(statistic="mean", columns=5)
    assert found.steps.tolist() == [0, 256, 512, 768, 1000]
    assert_holds(found, value_of, range(1000))
    assert "every 256 recorded steps" in found.approximate


def test_who_zooms_in_sees_every_step(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Attempt(run).write(range(1000)).close()
    monkeypatch.setattr(module, "MOST_ROWS", 300)
    reader = OverviewReader(run)
    assert reader.read(statistic="l2").exact is False
    found = reader.read(statistic="l2", first=470, last=500)
    assert found.exact
    assert found.approximate == "Every recorded step."
    assert found.steps.tolist() == list(range(470, 502))
    assert_holds(found, value_of, range(470, 501))
    found = reader.read(statistic="l2", first=470, last=500, columns=10)
    assert found.steps.tolist() == [470, 474, 478, 482, 486, 490, 494, 498, 501]
    assert_holds(found, value_of, range(470, 501))
    assert "every 4 recorded steps" in found.approximate


def test_a_window_of_stretches_shows_those_that_it_cuts_whole(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 0)
    Attempt(run).write(range(400)).close()
    found = OverviewReader(run).read(statistic="l2", first=100, last=200)
    assert found.steps.tolist() == [64, 128, 192, 256]
    assert_holds(found, value_of, range(400))


def test_tensors_are_picked_by_a_question(run: Run) -> None:
    Attempt(run).write(range(10)).close()
    found = OverviewReader(run).read(statistic="l2", tensors=lambda name: not name.startswith("gradient"))
    assert found.tensors == ["w", "b"]
    assert found.min.shape == (2, 10)


@pytest.mark.usefixtures("coarse_only")
@pytest.mark.parametrize("coarse", [True, False])
def test_a_reader_of_a_live_run_sees_what_a_new_one_would(run: Run, *, coarse: bool) -> None:
    attempt = Attempt(run, coarse=coarse)
    reader, written = OverviewReader(run), 0
    for count in (3, 60, 61, 64, 65, 200, 213, 300, 512):
        attempt.write(range(written, count))
        written = count
        found, fresh = reader.read(statistic="l2"), OverviewReader(run).read(statistic="l2")
        assert found.steps.tolist() == fresh.steps.tolist()
        assert np.array_equal(found.last, fresh.last, equal_nan=True)
        assert_holds(found, value_of, range(count))


@pytest.mark.usefixtures("coarse_only")
@pytest.mark.parametrize("coarse", [True, False])
def test_a_resumed_attempt_replaces_stretches_from_its_first_step_on(run: Run, *, coarse: bool) -> None:
    Attempt(run).write(range(300)).close()
    reader = OverviewReader(run)
    assert_holds(reader.read(statistic="l2"), value_of, range(300))
    Attempt(run, from_step=150, coarse=coarse).write(range(150, 260)).close()

    def value(step: int, row: int) -> float:
        return value_of(step, row, attempt=int(step >= 150))

    for one in (reader, OverviewReader(run)):
        found = one.read(statistic="l2")
        assert found.steps.tolist() == ([0, 64, 128, 150, 214, 260] if coarse else [0, 64, 128, 192, 256, 260])
        assert_holds(found, value, range(260))
    assert {one.last_step for one in reader.tensors()} == {259}


@pytest.mark.usefixtures("coarse_only")
def test_steps_that_were_never_to_be_recorded_are_no_hole(run: Run) -> None:
    Attempt(run).write(range(0, 50 * 200, 50)).close()
    found = OverviewReader(run).read(statistic="l2")
    assert found.steps.tolist() == [0, 3200, 6400, 9600, 9951]
    assert_holds(found, value_of, range(0, 10_000, 50))
    assert "no such copy" not in found.approximate


def flip_batch(run: Run, table: str, number: int) -> None:
    """Damage one batch of a table's first segment."""
    path = run.path / table / "train-worker_0-0-0.arrow"
    index = path.with_suffix(".idx").read_bytes()
    header = parse_header(index)
    assert header is not None
    entry = np.frombuffer(index, ENTRY, offset=header.size + number * ENTRY_BYTES, count=1)[0]
    content = bytearray(path.read_bytes())
    content[int(entry["offset"] + entry["length"] // 2)] ^= 1
    path.write_bytes(content)


@pytest.mark.usefixtures("coarse_only")
def test_a_damaged_stretch_is_named_and_read_from_the_statistics(run: Run) -> None:
    Attempt(run).write(range(333)).close()
    flip_batch(run, OVERVIEW, 2)
    found = OverviewReader(run).read(statistic="l2")
    assert found.steps.tolist() == [0, 64, 128, 192, 256, 320, 333]
    assert_holds(found, value_of, range(333))
    assert [(one.path, one.step, one.reason) for one in found.damage] == [
        ("trace/overview/train-worker_0-0-0.arrow", 128, "a batch fails its checksum")
    ]
    assert "Of 64 steps no such copy is kept" in found.approximate


def test_damaged_statistics_are_named_and_left_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Attempt(run).write(range(70)).close()
    flip_batch(run, STATISTICS, 3)
    found = OverviewReader(run).read(statistic="l2")
    assert found.steps.tolist() == [*range(21), *range(28, 71)]
    assert [one.step for one in found.damage] == [21]
    # The coarse copy still has them.
    monkeypatch.setattr(module, "MOST_ROWS", 0)
    assert_holds(OverviewReader(run).read(statistic="l2"), value_of, range(70))


@pytest.mark.usefixtures("coarse_only")
def test_a_lost_coarse_table_costs_time_and_nothing_else(run: Run) -> None:
    Attempt(run).write(range(200)).close()
    before = OverviewReader(run).read(statistic="l2")
    for file in (run.path / OVERVIEW).iterdir():
        file.unlink()
    after = OverviewReader(run).read(statistic="l2")
    assert after.steps.tolist() == before.steps.tolist()
    assert np.array_equal(after.min, before.min, equal_nan=True)


@pytest.mark.usefixtures("coarse_only")
def test_of_several_workers_the_first_that_has_a_tensor_shows_it(run: Run) -> None:
    first = Attempt(run)
    second = Attempt(run, worker="worker_1")
    first.write(range(100), ("w", "b")).close()
    second.write(range(90), ("w", "other")).close()
    found = OverviewReader(run).read(statistic="l2")
    assert found.tensors == ["w", "b", "other"]
    row = {name: found.last[i] for i, name in enumerate(found.tensors)}
    assert row["w"][np.isfinite(row["w"])][-1] == np.float32(value_of(99, 0))
    assert row["other"][np.isfinite(row["other"])][-1] == np.float32(value_of(89, 1))


def test_the_tensors_of_a_run_come_with_their_steps_and_newest_statistics(run: Run) -> None:
    attempt = Attempt(run).write(range(3), ("w", "b")).write(range(3, 99), ("b", "late"))
    for _ in range(2):
        tensors = {one.name: one for one in OverviewReader(run).tensors()}
        assert list(tensors) == ["w", "b", "late"]
        assert (tensors["w"].first_step, tensors["w"].last_step, tensors["w"].steps) == (0, 2, 3)
        assert (tensors["b"].first_step, tensors["b"].last_step, tensors["b"].steps) == (0, 98, 99)
        assert (tensors["late"].first_step, tensors["late"].most_nonfinite, tensors["late"].size) == (3, 4, 4)
        assert tensors["b"].last["l2"] == value_of(98, 0)
        assert tensors["w"].last["l2"] == value_of(2, 0)
        attempt.close()


@pytest.mark.parametrize("most", [0, 10_000])
def test_a_series_has_all_statistics_of_one_tensor_at_its_own_steps(
    run: Run, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", most)
    attempt = Attempt(run)
    for step in range(200):
        attempt.write([step], ("b", "w") if step % 2 else ("b",), group=1)
    series = OverviewReader(run).series("w")
    assert series.exact is bool(most)
    l2 = series.statistics["l2"]
    own = list(range(1, 200, 2))
    if most:
        assert series.steps.tolist() == [*own, 200]
        assert np.array_equal(l2.last, [value_of(step, 1) for step in own], equal_nan=True)
    else:
        assert series.steps.tolist() == [0, 64, 128, 192, 200]
        assert l2.greatest[1] == max(value_of(step, 1) for step in own if 64 <= step < 128 and step != 117)
    assert set(series.statistics) > {"l2", "nonfinite", "change"}
    with pytest.raises(TensorUnavailable, match="Did you mean 'w'"):
        OverviewReader(run).series("ww")


def test_a_number_that_no_float32_holds_is_shown_as_infinite(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    attempt = Attempt(run)
    attempt.scale = 1e300
    attempt.write(range(1, 17)).close()
    for most in (0, 10_000):
        monkeypatch.setattr(module, "MOST_ROWS", most)
        assert np.isinf(OverviewReader(run).read(statistic="l2").max).all()
        assert OverviewReader(run).series("w").statistics["l2"].last[-1] == 1e300 * value_of(16, 0)


def test_a_run_without_statistics_has_an_empty_overview(run: Run) -> None:
    found = OverviewReader(run).read(statistic="l2")
    assert found.tensors == []
    assert found.steps.tolist() == []
    assert found.min.shape == (0, 0)
    assert OverviewReader(run).tensors() == []


def test_an_unknown_statistic_and_no_room_at_all_are_refused(run: Run) -> None:
    with pytest.raises(ConfigurationError, match="Did you mean 'l2'"):
        OverviewReader(run).read(statistic="l22")
    with pytest.raises(ConfigurationError, match="columns >= 1"):
        OverviewReader(run).read(statistic="l2", columns=0)


class TestStepsThatEvaluate:
    """What a model does while it is evaluated is no part of how it trains."""

    TRAINED, EVALUATED = [*range(100), *range(110, 210), *range(220, 300)], [*range(100, 110), *range(210, 220)]

    @pytest.fixture(params=["written with it", "written without it", "of one step each"])
    def run(self, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
        if request.param != "of one step each":
            monkeypatch.setattr(module, "MOST_ROWS", 0)
        run = Run.create(tmp_path / "run")
        attempt = Attempt(run, coarse=request.param != "written without it")
        attempt.write(range(100)).scale = -1000.0
        attempt.write(range(100, 110), ("w", "accuracy_output_0"), mode="EVAL").scale = 1.0
        attempt.write(range(110, 210)).scale = -1000.0
        attempt.write(range(210, 220), ("w", "accuracy_output_0"), mode="PREDICT").scale = 1.0
        attempt.write(range(220, 300)).close()
        return run

    def test_do_not_change_what_is_shown_of_training(self, run: Run) -> None:
        found = OverviewReader(run).read(statistic="l2", tensors=TENSORS.__contains__, columns=300)
        assert found.tensors == list(TENSORS)
        assert_holds(found, value_of, self.TRAINED)
        assert "training step" in found.approximate
        assert not found.exact or found.steps[:-1].tolist() == self.TRAINED

    def test_are_shown_of_what_nothing_else_recorded(self, run: Run) -> None:
        found = OverviewReader(run).read(statistic="l2", tensors="accuracy_output_0".__eq__)
        assert found.tensors == ["accuracy_output_0"]
        assert not np.isnan(found.last).all()
        assert "recorded step" in found.approximate

    def test_count_in_the_facts_of_a_tensor(self, run: Run) -> None:
        facts = {one.name: one for one in OverviewReader(run).tensors()}
        assert (facts["w"].steps, facts["b"].steps, facts["accuracy_output_0"].steps) == (300, 280, 20)
        assert (facts["w"].first_step, facts["w"].last_step) == (0, 299)
        assert facts["accuracy_output_0"].last_step == 219

    @pytest.mark.parametrize("columns", [1000, 3])
    def test_are_part_of_a_series(self, run: Run, columns: int) -> None:
        found = OverviewReader(run).series("w", columns=columns)
        values = [value_of(step, 0) * (-1000.0 if step in self.EVALUATED else 1.0) for step in range(300)]
        l2 = found.statistics["l2"]
        assert (np.nanmin(l2.least), np.nanmax(l2.greatest)) == (np.nanmin(values), np.nanmax(values))
        assert l2.last[-1] == values[-1]
        assert np.array_equal(l2.last, [values[end] for end in found.ends.tolist()], equal_nan=True)
