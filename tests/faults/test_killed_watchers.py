"""A watcher that is killed and started again loses no finding and tells none twice; a killed training is noticed."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np
import pytest

from cutaway.rules.built_in.vanishing_gradient import VanishingGradient
from cutaway.rules.watcher import Watcher
from cutaway.run import Run, RunState
from cutaway.run.control import Inbox
from cutaway.run.findings import stamped
from cutaway.run.schemas import FINDINGS
from cutaway.testing.rules import ScriptedRun
from cutaway.trial import Trial, liveness
from tests.nursery import Nursery

pytestmark = pytest.mark.faults

LAYERS = 60


def add_step(script: ScriptedRun) -> None:
    """Layer after layer vanishes, one every third step: so many findings."""
    step = script.newest_step() + 1
    script.step(
        tensors={
            f"gradient/layer{layer:02d}.weight": np.full(2, 1e-9 if step >= 3 * layer else 1e-3)
            for layer in range(LAYERS)
        }
    )


def test_killed_watchers_lose_no_finding_and_tell_none_twice(nursery: Nursery, tmp_path: Path, kills: int) -> None:
    script, chance = ScriptedRun(), random.Random(7)
    run = script.begin(tmp_path / "run")
    deaths = max(kills // 2, 8)
    for _ in range(deaths):
        for _ in range(3 * LAYERS // deaths):
            add_step(script)
        watcher = nursery.start("watch", path=str(run.path))
        watcher.report()
        time.sleep(chance.uniform(0, 0.06))
        watcher.kill()
    last = nursery.start("watch", path=str(run.path))
    while last.report() < script.newest_step():
        pass
    wanted = [stamped(one, run.id, 0, "watch") for one in VanishingGradient().look(script, script.newest_step() + 1)]
    assert len(wanted) > LAYERS // 2
    deadline = time.monotonic() + 60
    while len(Inbox(run.storage, "train").new()) < len(wanted) and time.monotonic() < deadline:
        time.sleep(0.01)
    script.end()
    last.reports()
    last.wait()
    recorded = [row["id"] for row in run.table(FINDINGS).read().to_pylist()]
    assert sorted(recorded) == sorted(one.id for one in wanted)
    # Each finding asked for its checkpoint once, however many watchers came by.
    assert len(run.storage.list("control")) == len(wanted)


def test_a_watcher_notices_before_the_lease_runs_out_that_the_training_was_killed(
    nursery: Nursery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever waited for the lease to run out would wait for longer than a test may take.
    monkeypatch.setattr(liveness, "LEASE_SECONDS", 3600.0)
    run = Run.create(tmp_path / "run")
    run.write_document("trace/collections.json", {"included": [], "collections": {}})
    training = nursery.start("write", path=str(run.path))
    for _ in range(5):
        training.report()
    trial = Trial(run)
    with Watcher(trial, [VanishingGradient(trial)]) as watcher:
        looks = watcher.looks(follow=True)
        next(looks)
        training.kill()
        last = list(looks)[-1]
    assert last.state is RunState.CRASHED
    assert [finding.code for finding in run.findings()] == ["training-crashed"]
