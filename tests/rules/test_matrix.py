"""Sick and healthy trainings, each watched by all rules: what is told first, and that the healthy are left alone.

`python -m tests.rules.test_matrix` prints the table of docs/explanation/rules.md.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("sklearn")

import torch

from cutaway.rules.health import Health, health_of
from cutaway.rules.making import rule_recipes
from cutaway.rules.watcher import Watcher
from cutaway.run.findings import Finding
from cutaway.trial import Trial
from tests.rules.trainings import HEALTHY, SICK, Training

# Few enough for every run of the tests; the others take half a minute together.
CHEAP = {"learning rate 1000 times too low", "dead network", "all inputs the same", "MLP, SGD"}
# A sound training may have something to look at.
MOST_WARNINGS = 5


def watched(training: Training, folder: Path) -> tuple[Health, list[Finding]]:
    """Train, let all rules look as `cutaway watch` does, and return how the run is and what was found."""
    run = training.run(folder)
    trial = Trial(run)
    with Watcher(trial, [recipe.make(trial) for recipe in rule_recipes()]) as watcher:
        last = list(watcher.looks(follow=False))[-1]
    return health_of(run, last.state), list(run.findings())


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def _marked(trainings: tuple[Training, ...]) -> list[Any]:
    marks = {True: [], False: [pytest.mark.slow]}
    return [pytest.param(one, id=one.name, marks=marks[one.name in CHEAP]) for one in trainings]


@pytest.mark.parametrize("training", _marked(SICK))
def test_the_cause_is_told_first_and_a_training_that_does_not_learn_is_an_error(
    training: Training, tmp_path: Path
) -> None:
    health, found = watched(training, tmp_path / "run")
    assert health.telling[0].code in training.first
    # What `cutaway watch` ends with 1 for.
    assert any(one.severity == "error" for one in found) is not training.learns
    assert health.verdict == ("warnings" if training.learns else "sick")


@pytest.mark.parametrize("training", _marked(HEALTHY))
def test_a_healthy_training_gives_no_error_and_few_warnings(training: Training, tmp_path: Path) -> None:
    health, found = watched(training, tmp_path / "run")
    assert [one.message for one in found if one.severity == "error"] == []
    assert health.warnings <= MOST_WARNINGS


@pytest.mark.parametrize("training", _marked(tuple(one for one in SICK if one.name.startswith("dead network"))))
def test_nobody_is_told_to_raise_the_learning_rate_of_a_dead_network(training: Training, tmp_path: Path) -> None:
    health, found = watched(training, tmp_path / "run")
    assert "LearningRateTooLow" not in {one.code for one in found}
    assert not any("Multiply the learning rate" in one.try_this for one in health.telling)


def _row(training: Training) -> str:
    with tempfile.TemporaryDirectory() as folder:
        health, found = watched(training, Path(folder) / "run")
    told = ", ".join(f"{one.code} ({one.step})" for one in health.telling) or "nothing"
    worst = {"healthy": "", "warnings": "0", "sick": "1", "not checked": "?"}[health.verdict]
    return f"| {training.name} | {told} | {len(found)} | {worst or '0'} |"


if __name__ == "__main__":
    torch.set_num_threads(1)
    for title, group in (("Sick", SICK), ("Healthy", HEALTHY)):
        print(f"\n| {title} | Told, with its step | Findings | Exit code |\n|---|---|---|---|")
        for one in group:
            print(_row(one), flush=True)
