"""An analysis that is killed, whenever that is, goes on where it stopped and ends as if undisturbed, without litter."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import numpy as np
import pyarrow.parquet as pq
import pytest

from cutaway.evaluation import Evaluation, evaluations
from cutaway.run import Run
from tests.faults.analysis_jobs import SIZES
from tests.nursery import Nursery

pytest.importorskip("torch")
pytestmark = pytest.mark.faults

TOTAL = sum(SIZES.values())
PARTS = 14
LOCKED = -1
FURTHER = re.compile(r"_(words|traits|drivers|classes)(?=\.)")


@pytest.fixture(scope="module")
def analysts() -> Iterator[Nursery]:
    with Nursery("tests.faults.analysis_jobs") as nursery:
        yield nursery


@pytest.fixture(scope="module")
def evaluated(analysts: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = Run.create(tmp_path_factory.mktemp("evaluated") / "run")
    child = analysts.start("evaluate", path=str(run.path))
    assert child.reports() == [TOTAL]
    child.wait()
    return run.path


@pytest.fixture(scope="module")
def undisturbed(analysts: Nursery, evaluated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(copytree(evaluated, tmp_path_factory.mktemp("undisturbed") / "run"))
    _finish(analysts, folder)
    return folder


def _evaluation(folder: Path) -> Evaluation:
    [found] = evaluations(Run.open(folder))
    return found


def _finish(analysts: Nursery, folder: Path) -> None:
    child = analysts.start("analyze", path=str(folder))
    assert max(child.reports()) == PARTS
    child.wait()


def _kept(folder: Path) -> dict[str, int]:
    """Return the files of the parts that are done, and when each was written.

    The table that is a part's own comes last: without it, further ones such as `units_drivers` are not done.
    """
    found = {path.name: path.stat().st_mtime_ns for path in _evaluation(folder).path.glob("*.*.parquet")}
    return {name: when for name, when in found.items() if FURTHER.sub("", name) in found}


def _is_like(folder: Path, healthy: Path) -> None:
    here, there = _evaluation(folder).path, _evaluation(healthy).path
    assert sorted(path.name for path in here.iterdir()) == sorted(path.name for path in there.iterdir())
    for path in there.glob("*.*.parquet"):
        one, other = pq.read_table(here / path.name), pq.read_table(path)
        assert one.equals(other), path.name
        assert one.schema.metadata == other.schema.metadata, path.name
    assert _findings(folder) == _findings(healthy)


def _findings(folder: Path) -> list[tuple[str, str]]:
    return sorted((one.code, one.message) for one in Run.open(folder).findings())


def test_killed_analyses_go_on_and_end_as_if_undisturbed(
    analysts: Nursery, evaluated: Path, undisturbed: Path, tmp_path: Path, kills: int
) -> None:
    chance = random.Random(5)
    left, number = max(kills // 2, 8), 0
    while left > 0:
        number += 1
        folder = Path(copytree(evaluated, tmp_path / f"run{number}"))
        for _ in range(4):
            before = _kept(folder)
            child = analysts.start("analyze", path=str(folder))
            child.report()
            time.sleep(chance.uniform(0, 0.8))
            child.kill()
            left -= 1
            # What was done stays as it was: a kill costs what was under way, no more.
            assert {name: when for name, when in _kept(folder).items() if name in before} == before
        before = _kept(folder)
        _finish(analysts, folder)
        assert {name: when for name, when in _kept(folder).items() if name in before} == before
        _is_like(folder, undisturbed)


@pytest.mark.slow
def test_what_a_killed_writer_left_is_swept(
    analysts: Nursery, evaluated: Path, undisturbed: Path, tmp_path: Path, kills: int
) -> None:
    """Kills that follow the reports closely meet the writing of a file."""
    chance = random.Random(6)
    for number in range(max(kills // 4, 5)):
        folder = Path(copytree(evaluated, tmp_path / f"run{number}"))
        child = analysts.start("analyze", path=str(folder))
        part = chance.randrange(1, PARTS)
        while child.report() < part:
            pass
        time.sleep(chance.uniform(0, 0.01))
        child.kill()
        _finish(analysts, folder)
        _is_like(folder, undisturbed)


def test_two_that_analyse_one_run_do_not_hurt_each_other(
    analysts: Nursery, evaluated: Path, undisturbed: Path, tmp_path: Path
) -> None:
    folder = Path(copytree(evaluated, tmp_path / "run"))
    children = [analysts.start("analyze", path=str(folder)) for _ in range(3)]
    for child in children:
        assert max(child.reports()) == PARTS
        child.wait()
    _is_like(folder, undisturbed)


@pytest.mark.slow
def test_a_killed_pass_over_a_layer_goes_on(analysts: Nursery, evaluated: Path, tmp_path: Path, kills: int) -> None:
    chance = random.Random(7)
    for number in range(max(kills // 4, 5)):
        folder = Path(copytree(evaluated, tmp_path / f"run{number}"))
        done = 0
        for _ in range(2):
            child = analysts.start("add_layer", path=str(folder))
            first = child.report()
            # All but what was under way when it was killed is there.
            assert first >= done
            time.sleep(chance.uniform(0, 0.1))
            done = max([first, *child.kill()]) - 16
        child = analysts.start("add_layer", path=str(folder), pace=0.0)
        assert (child.reports() or [TOTAL])[-1] == TOTAL
        child.wait()
        evaluation = _evaluation(folder)
        for subset in SIZES:
            np.testing.assert_array_equal(evaluation.latents(subset, "twice"), evaluation.latents(subset))
        assert not [path.name for path in evaluation.path.iterdir() if path.name.startswith(".")]


def test_only_one_adds_a_layer_at_a_time(analysts: Nursery, evaluated: Path, tmp_path: Path) -> None:
    folder = Path(copytree(evaluated, tmp_path / "run"))
    first = analysts.start("add_layer", path=str(folder))
    first.report()
    second = analysts.start("add_layer", path=str(folder))
    assert second.reports() == [LOCKED]
    second.wait()
    assert first.reports()[-1] == TOTAL
    first.wait()
    assert "twice" in _evaluation(folder).spaces
