"""The watcher: findings once, actions once, its end, and what it says of the training's."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from cutaway.rules import Rule, StopTraining
from cutaway.rules.built_in.vanishing_gradient import VanishingGradient
from cutaway.rules.watcher import Watcher, WatchStatus
from cutaway.run import Run, RunState
from cutaway.run.control import Inbox
from cutaway.run.schemas import FINDINGS
from cutaway.trial import Trial
from tests.rules.sickness import sick_run, train


def watched(run: Run, *rules: type[Rule], action: str | None = None) -> tuple[Watcher, list[Rule]]:
    trial = Trial(run)
    made = [rule(trial, action) for rule in rules]
    return Watcher(trial, made), made


def once(watcher: Watcher) -> WatchStatus:
    return list(watcher.looks(follow=False))[-1]


def rows(run: Run) -> list[str]:
    return [row["id"] for row in run.table(FINDINGS).read().to_pylist()]


def test_what_rules_find_is_recorded_once_however_often_the_run_is_watched(tmp_path: Path) -> None:
    run = sick_run().write(tmp_path / "run")
    for _ in range(3):
        watcher, _ = watched(run, VanishingGradient)
        with watcher:
            once(watcher)
    assert [(one.code, one.where["step"], one.source) for one in run.findings()] == [("VanishingGradient", 30, "watch")]
    assert len(rows(run)) == 1


def test_two_watchers_of_one_run_live_side_by_side(tmp_path: Path) -> None:
    run = sick_run().write(tmp_path / "run")
    first, _ = watched(run, VanishingGradient)
    second, _ = watched(run, VanishingGradient)
    with first, second:
        once(first)
        once(second)
    assert len(run.findings()) == 1
    assert run.storage.list("watch") == ["watcher_0.json", "watcher_1.json"]


def test_a_watcher_follows_until_the_training_ends(tmp_path: Path) -> None:
    script = sick_run(healthy=5, sick=0)
    run = script.begin(tmp_path / "run")
    trial = Trial(run)
    naps: list[float] = []

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 3:
            train(script, 5, gradient=0.0)
        if len(naps) == 6:
            script.end()

    with Watcher(trial, [VanishingGradient(trial)], sleep=sleep) as watcher:
        statuses = list(watcher.looks(follow=True))
    assert [finding.where["step"] for one in statuses for finding in one.findings] == [5]
    assert statuses[-1].state is RunState.FINISHED
    assert statuses[-1].newest == 9
    assert len(naps) == 6


def test_without_follow_it_ends_with_what_is_there(tmp_path: Path) -> None:
    script = sick_run()
    run = script.begin(tmp_path / "run")
    watcher, _ = watched(run, VanishingGradient)
    with watcher:
        assert once(watcher).state is RunState.RUNNING
    script.end()


@pytest.mark.parametrize("state", [RunState.FAILED, RunState.CRASHED])
def test_a_training_that_came_to_a_bad_end_is_said_once(tmp_path: Path, state: RunState) -> None:
    script = sick_run(sick=0)
    run = script.begin(tmp_path / "run")
    script.end(state)
    for _ in range(2):
        watcher, _ = watched(run, VanishingGradient)
        with watcher:
            once(watcher)
        assert watcher.worst == "error"
    (said,) = run.findings()
    assert said.code == f"training-{state}"
    assert "Everything up to step 29 is here" in said.message


def test_an_action_is_asked_for_once_also_by_the_watcher_after_a_killed_one(tmp_path: Path) -> None:
    script = sick_run()
    run = script.begin(tmp_path / "run")
    first, _ = watched(run, VanishingGradient)
    once(first)  # recorded, and killed before it acted: it had no action
    assert Inbox(run.storage, "train").new() == []
    for _ in range(2):
        second, _ = watched(run, VanishingGradient, action="stop")
        once(second)
    (request,) = Inbox(run.storage, "train").new()
    assert (request.action, request.who, request.attempt) == ("stop", "rule VanishingGradient", 0)
    assert "has vanished" in request.why
    script.end()


def test_a_training_that_has_ended_is_not_asked_for_anything(tmp_path: Path) -> None:
    run = sick_run().write(tmp_path / "run")
    watcher, (rule,) = watched(run, VanishingGradient)
    rule.add_actions([StopTraining()])
    with watcher:
        once(watcher)
    assert len(run.findings()) == 1
    assert Inbox(run.storage, "train").new() == []


def test_a_folder_that_cannot_be_written_is_watched_without_recording(tmp_path: Path) -> None:
    run = sick_run().write(tmp_path / "run")
    # Files where folders should be: also root cannot write below them.
    for name in ("leases", "findings", "watch", "control"):
        folder = run.path / name
        if folder.exists():
            for inner in folder.iterdir():
                inner.chmod(stat.S_IRUSR)
        else:
            folder.write_text("")
    leases = run.path / "leases"
    leases.rename(run.path / "leases-before")
    leases.write_text("")
    watcher, _ = watched(run, VanishingGradient)
    with watcher:
        last = once(watcher)
    assert [finding.code for finding in last.findings] == ["VanishingGradient"]
    assert last.unrecorded


def test_a_status_says_how_each_rule_stands(tmp_path: Path) -> None:
    run = sick_run().write(tmp_path / "run")
    watcher, _ = watched(run, VanishingGradient)
    with watcher:
        once(watcher)
    document = run.document("watch/watcher_0.json")
    assert document is not None
    assert document["ended"] is True
    (rule,) = document["rules"]
    assert (rule["rule"], rule["status"], rule["step"], rule["findings"]) == ("VanishingGradient", "FIRED", 59, 1)
