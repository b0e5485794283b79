"""An evaluation that is killed, whenever that is, goes on where it stopped: each sample once, as if undisturbed."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np
import pytest

from cutaway.evaluation import Evaluation, evaluations
from cutaway.run import Run, RunState
from tests.faults.jobs import EVALUATED
from tests.nursery import Nursery

pytestmark = pytest.mark.faults

TOTAL = sum(EVALUATED.values())


@pytest.fixture(scope="module")
def undisturbed(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    return _finish(nursery, Run.create(tmp_path_factory.mktemp("healthy") / "run"))


def _finish(nursery: Nursery, run: Run) -> Evaluation:
    child = nursery.start("evaluate", path=str(run.path), pace=0.0)
    assert child.reports()[-1] == TOTAL
    child.wait()
    [evaluation] = evaluations(run)
    assert evaluation.finished
    assert not (evaluation.path / "parts").exists()
    assert not [path.name for path in evaluation.path.iterdir() if path.name.startswith(".")]
    return evaluation


def _is_like(evaluation: Evaluation, healthy: Evaluation) -> None:
    for name, count in EVALUATED.items():
        table = evaluation.table(name)
        assert table["index"].to_pylist() == list(range(count))
        assert table.equals(healthy.table(name))
        assert np.array_equal(evaluation.latents(name), healthy.latents(name))
    assert evaluation.source.subsets == healthy.source.subsets


def test_killed_evaluations_go_on_and_have_each_sample_once(
    nursery: Nursery, undisturbed: Evaluation, tmp_path: Path, kills: int
) -> None:
    chance = random.Random(3)
    left = max(kills // 2, 8)
    while left > 0:
        run = Run.create(tmp_path / f"run{left}")
        for _ in range(4):
            child = nursery.start("evaluate", path=str(run.path))
            child.report()
            time.sleep(chance.uniform(0, 0.12))
            child.kill()
            left -= 1
            assert run.state() in (RunState.CRASHED, RunState.FINISHED)
        if not evaluations(run)[0].finished:
            _finish(nursery, run)
        _is_like(evaluations(run)[0], undisturbed)


def test_a_kill_while_the_parts_are_put_together_costs_nothing(
    nursery: Nursery, undisturbed: Evaluation, tmp_path: Path, kills: int
) -> None:
    chance = random.Random(4)
    for number in range(max(kills // 4, 5)):
        run = Run.create(tmp_path / f"run{number}")
        child = nursery.start("evaluate", path=str(run.path), pace=0.0)
        while child.report() < TOTAL:
            pass
        time.sleep(chance.uniform(0, 0.03))
        child.kill()
        if not evaluations(run)[0].finished:
            _finish(nursery, run)
        _is_like(evaluations(run)[0], undisturbed)
