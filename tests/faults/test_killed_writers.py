"""SIGKILL at random instants: nothing acknowledged is lost, nothing torn is shown, the state is true, it resumes."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from cutaway.run import Run, RunState
from cutaway.run.schemas import STATISTICS, STEPS, TENSORS
from cutaway.run.segments import RawPlace
from cutaway.trial import overview
from tests.faults.jobs import tensor_of
from tests.nursery import Child, Nursery

pytestmark = pytest.mark.faults

KILLS_OF_ONE_RUN = 20

# What may be said of a killed writer's files. Anything else would be damage.
TORN = (
    "the segment was not closed",
    "of an unfinished entry",
    "that no entry lists",
    "the index ends inside its header",
)


def _kill_at_a_random_instant(child: Child, chance: random.Random) -> tuple[int, list[int]]:
    """Return the attempt (-1 where it had not begun) and the steps that were acknowledged."""
    awaited = chance.choice([0, 1, 2, 2])  # reports: none, that the attempt began, and its first step
    before = [child.report() for _ in range(awaited)]
    time.sleep(chance.uniform(0, 0.02))
    attempt, *steps = [*before, *child.kill()] or [-1]
    return attempt, steps


def _check(run: Run, acknowledged: dict[int, list[int]]) -> None:
    shown = run.table(STEPS).read(columns=["step", "attempt", "samples"]).to_pylist()
    steps = {row["step"]: row["attempt"] for row in shown}
    assert len(steps) == len(shown), "a step is shown twice"
    assert sorted(steps) == list(range(len(steps))), "a step is missing between two others"
    for attempt, numbers in acknowledged.items():
        assert {steps.get(step) for step in numbers} <= {attempt}, "an acknowledged step was lost"
    assert all(row["samples"] == [f"training/{row['step']}", None] for row in shown)
    statistics = run.table(STATISTICS).read(columns=["step", "attempt", "tensor", "min"])
    found = {(row["step"], row["attempt"], row["tensor"]): row["min"] for row in statistics.to_pylist()}
    assert len(found) == len(statistics)
    for step, attempt in steps.items():
        assert [found[step, attempt, name] for name in "abc"] == [0.5, 1.5, step]
    _check_tensors(run, steps)


def _check_tensors(run: Run, steps: dict[int, int]) -> None:
    reader, found = run.table(TENSORS), set()
    for batch in reader.poll():
        for row in batch.rows.to_pylist():
            if reader.visible(batch.segment, row["step"]):
                data = reader.raw(batch.segment, RawPlace(row["offset"], row["length"], row["crc"]))
                assert bytes(data) == tensor_of(batch.segment.attempt, row["step"]).tobytes()
                found.add((row["step"], batch.segment.attempt))
    assert set(steps.items()) <= found


def test_killed_writers_lose_nothing_that_they_acknowledged(nursery: Nursery, tmp_path: Path, kills: int) -> None:
    acknowledged = 0
    for group in range(max(kills // KILLS_OF_ONE_RUN, 1)):
        run = Run.create(tmp_path / f"run{group}")
        run.write_document("trace/collections.json", {"weights": {"include_regex": ["weight$"]}})
        acknowledged += _kill_many(nursery, run, random.Random(group))
    assert acknowledged > kills, "the kills came before there was anything to lose"


def _kill_many(nursery: Nursery, run: Run, chance: random.Random) -> int:
    """Kill the writers of one run one after another, look at what they left, and count what they acknowledged."""
    acknowledged: dict[int, list[int]] = {}
    for _ in range(KILLS_OF_ONE_RUN):
        attempt, steps = _kill_at_a_random_instant(nursery.start("write", path=str(run.path)), chance)
        if attempt >= 0:
            acknowledged[attempt] = steps
            assert run.state() is RunState.CRASHED
        reader = run.table(STEPS)
        reader.poll()
        assert reader.damage == []
    found = Run.open(run.path)
    _check(found, acknowledged)
    damage = [one for one in found.verify() if not one.reason.endswith(TORN)]
    assert damage == []
    assert found.document("trace/collections.json") == {"weights": {"include_regex": ["weight$"]}}
    return sum(map(len, acknowledged.values()))


def test_a_killed_run_goes_on_where_it_ended_and_can_finish(nursery: Nursery, run: Run) -> None:
    child = nursery.start("write", path=str(run.path))
    child.report()
    while child.report() < 20:
        pass
    child.kill()
    last = run.next_step()
    assert last >= 21
    second = nursery.start("write", path=str(run.path), steps=10)
    reports = second.reports()
    second.wait()
    assert reports == [1, *range(last, last + 10)]
    assert run.state() is RunState.FINISHED
    _check(run, {1: reports[1:]})


def test_a_writer_that_is_left_alone_finishes_and_leaves_no_damage(nursery: Nursery, run: Run) -> None:
    child = nursery.start("write", path=str(run.path), steps=40)
    assert child.reports() == [0, *range(40)]
    child.wait()
    assert run.state() is RunState.FINISHED
    assert run.verify() == []
    _check(run, {0: list(range(40))})


def test_a_reader_that_looks_on_sees_no_damage_and_no_gap(nursery: Nursery, run: Run) -> None:
    child = nursery.start("write", path=str(run.path))
    child.report()
    reader = run.table(STEPS)
    seen: list[int] = []
    while len(seen) < 150:
        for batch in reader.poll():
            seen += batch.rows["step"].to_pylist()
        assert seen == list(range(len(seen)))
    acknowledged = child.kill()
    assert acknowledged[-1] in reader.read()["step"].to_pylist()
    assert reader.damage == []


def test_a_killed_writer_leaves_an_overview_of_every_step(
    nursery: Nursery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "MOST_ROWS", 0)
    chance = random.Random(7)
    for count in range(6):
        run = Run.create(tmp_path / f"run{count}")
        child = nursery.start("write_coarsely", path=str(run.path))
        awaited = chance.randrange(0, 400)
        while child.report() < awaited:
            pass
        last = child.kill()[-1:] or [awaited]
        found = overview.OverviewReader(run).read(statistic="l2")
        assert found.damage == ()
        assert found.steps[-1] > last[0]
        assert found.tensors == ["a", "b"]
        for row in range(2):
            assert found.min[row].tolist() == found.steps[:-1].tolist()
            assert found.max[row].tolist() == found.last[row].tolist() == (found.steps[1:] - 1).tolist()


def test_a_file_that_may_not_grow_loses_no_acknowledged_step(nursery: Nursery, run: Run) -> None:
    child = nursery.start("write_until_full", path=str(run.path), limit=9000)
    reports = child.reports()
    child.wait()
    acknowledged = [step for step in reports if step >= 0]
    assert reports.count(-1) >= 2, "the limit was never reached"
    assert run.table(STEPS).read()["step"].to_pylist() == acknowledged
    assert [one for one in run.verify() if not one.reason.endswith(TORN)] == []


def test_a_forked_child_cannot_spoil_the_run_of_its_parent(nursery: Nursery, run: Run) -> None:
    child = nursery.start("fork_while_writing", path=str(run.path))
    assert child.reports() == [0, 1]
    child.wait()
    assert run.table(STEPS).read()["step"].to_pylist() == [0, 1]
    assert run.verify() == []
    assert run.state() is RunState.FINISHED
