"""StalledTrainingRule."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutaway.errors import ConfigurationError
from cutaway.rules.built_in.stalled_training_rule import StalledTrainingRule
from cutaway.run.control import Reply, Request, answer, ask
from cutaway.run.identity import Run
from cutaway.run.leases import Lease, RunState
from cutaway.run.schemas import STEPS
from cutaway.run.segments import TableWriter, WriterId
from cutaway.tensors.collections import Collections
from cutaway.tensors.reader import TensorReader
from cutaway.testing.rules import RuleContract, ScriptedRun, findings
from cutaway.trial import create_trial

BEGAN = 1e9


def run_with(times: list[float]) -> ScriptedRun:
    run = ScriptedRun()
    for time in times:
        run.step(time=BEGAN + time)
    return run


def every_second(count: int) -> list[float]:
    return [float(i) for i in range(count)]


class TestStalledTrainingRule(RuleContract):
    rule = StalledTrainingRule

    def sick(self) -> tuple[ScriptedRun, int]:
        return run_with([*every_second(30), *(30 + 1801 + i for i in range(30))]), 29

    def healthy(self) -> ScriptedRun:
        return run_with([*every_second(30), *(29 + 1800 + i for i in range(30))])

    def lacking(self) -> TensorReader | None:
        return None

    def test_its_evidence_has_the_seconds(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.evidence["value"] == 1802
        assert found.evidence["threshold"] == 1800
        assert found.evidence["next_step"] == 30

    def test_two_stalls_are_two_findings(self) -> None:
        run = run_with([0, 1, 2002, 2003, 4004, 4005])
        assert [one.where["step"] for one in findings(self.make(), run)] == [1, 3]


class Training:
    """A training that this process carries on, step by step, on a clock of its own."""

    def __init__(self, path: Path) -> None:
        self.run = Run.create(path, framework="scripted")
        collections = {"included": [], "collections": Collections().to_dict()}
        self.run.write_document("trace/collections.json", collections)
        self.step = 0
        self._begin(0)

    def _begin(self, from_step: int) -> None:
        attempt, self.lease = self.run.begin_attempt(from_step=from_step)
        self.writer: TableWriter = self.run.writer(STEPS, WriterId("train", "worker_0", attempt))

    def take(self, time: float) -> None:
        row = (self.step, "TRAIN", self.step, None, time, None, None, None, None, None, True, 0)
        self.writer.append_records([row], self.step)
        self.step += 1

    def end(self) -> None:
        self.writer.close()
        self.lease.release(RunState.FINISHED)

    def resume(self) -> None:
        self.end()
        self._begin(self.step)


@pytest.fixture
def training(tmp_path: Path) -> Iterator[Training]:
    one = Training(tmp_path / "run")
    yield one
    one.end()


class TestWhileTheTrainingRuns:
    def test_it_fires_when_no_step_comes_and_tells_it_once(self, training: Training) -> None:
        now = BEGAN
        rule = StalledTrainingRule(threshold=60)
        rule.clock = lambda: now  # type: ignore[method-assign]
        trial = create_trial(training.run.path)
        assert rule.look(trial, 0) == []
        for _ in range(3):
            training.take(now)
            now += 1
        assert rule.look(trial, 3) == []
        now += 30
        assert rule.look(trial, 3) == []
        now += 60
        (found,) = rule.look(trial, 3)
        assert found.where["step"] == 2
        assert found.evidence["value"] == 91
        assert "has stalled" in found.message
        assert rule.look(trial, 3) == []
        training.take(now)
        assert rule.look(trial, 4) == []

    def test_a_watcher_that_comes_later_gives_it_the_same_id(self, training: Training) -> None:
        rule = StalledTrainingRule(threshold=60)
        rule.clock = lambda: BEGAN + 100  # type: ignore[method-assign]
        training.take(BEGAN)
        trial = create_trial(training.run.path)
        live = rule.look(trial, 1)
        training.take(BEGAN + 200)
        later = StalledTrainingRule(threshold=60)
        later.clock = lambda: BEGAN + 201  # type: ignore[method-assign]
        assert [one.id for one in later.look(trial, 2)] == [one.id for one in live]
        assert len(live) == 1

    def test_a_training_that_has_ended_has_not_stalled(self, training: Training) -> None:
        training.take(BEGAN)
        training.end()
        rule = StalledTrainingRule(threshold=60)
        assert rule.look(create_trial(training.run.path), 1) == []

    def test_the_time_between_two_attempts_is_no_stall(self, training: Training) -> None:
        training.take(BEGAN)
        training.take(BEGAN + 1)
        training.resume()
        training.take(BEGAN + 10_000)
        training.take(BEGAN + 20_000)
        rule = StalledTrainingRule()
        rule.clock = lambda: BEGAN + 20_001  # type: ignore[method-assign]
        assert [one.where["step"] for one in rule.look(create_trial(training.run.path), 4)] == [2]

    def test_a_training_that_was_told_to_wait_has_not_stalled(self, training: Training) -> None:
        training.take(BEGAN)
        request = Request("pause", "train", who="somebody", why="to look")
        ask(training.run.storage, request)
        answer(training.run.storage, request, Reply("done", "", step=0))
        rule = StalledTrainingRule()
        rule.clock = lambda: BEGAN + 10_000  # type: ignore[method-assign]
        trial = create_trial(training.run.path)
        assert rule.look(trial, 1) == []
        training.take(BEGAN + 10_000)
        assert rule.look(trial, 2) == []


def test_inside_a_hook_only_steps_that_came_are_looked_at() -> None:
    rule = StalledTrainingRule(threshold=60)
    rule.clock = lambda: BEGAN + 10_000  # type: ignore[method-assign]
    assert findings(rule, run_with(every_second(5))) == []


class TestParameters:
    def test_a_shorter_threshold_fires_sooner(self) -> None:
        run = run_with([0, 1, 12, 13])
        assert findings(StalledTrainingRule(), run) == []
        assert [one.where["step"] for one in findings(StalledTrainingRule(threshold="10"), run)] == [1]

    def test_it_asks_for_a_stop_only_where_told_to(self) -> None:
        assert StalledTrainingRule().action_str is None
        asked = StalledTrainingRule(stop_training_on_fire="true", training_job_name_prefix="mnist")
        assert json.loads(asked.action_str or "") == {"name": "stoptraining", "training_job_prefix": "mnist"}
        assert StalledTrainingRule(stop_training_on_fire=True).action_str == "stop"
        own = StalledTrainingRule(action_str='{"name": "email", "endpoint": "x"}', stop_training_on_fire=True)
        assert "email" in (own.action_str or "")

    def test_a_threshold_must_be_positive(self) -> None:
        with pytest.raises(ConfigurationError, match="`threshold > 0` must hold"):
            StalledTrainingRule(threshold=0)


def test_leases_of_these_tests_are_real(training: Training) -> None:
    assert isinstance(training.lease, Lease)
    assert create_trial(training.run.path).state() is RunState.RUNNING
