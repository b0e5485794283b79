"""Rules over what a real hook saved: full tensors without statistics, and tensors that the loop saves itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import cutaway.torch as smd
from cutaway.rules.health import health_of
from cutaway.rules.making import rule_recipes
from cutaway.rules.watcher import Watcher
from cutaway.run import Run, RunState
from cutaway.run.watches import Status
from cutaway.trial import Trial
from tests.frameworks.torch.models import batches, net, sgd

STEPS, BREAKS_AT = 12, 5


def train(out: Path, *, breaks: bool, **settings: Any) -> Trial:
    """Train with a tensor of the loop's own beside the model's; from a step on it is NaN, and so are the weights."""
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer = sgd(model)
    with smd.Hook(out, **settings) as hook:
        hook.register_module(model)
        hook.register_loss(loss)
        hook.register_optimizer(optimizer)
        for step, (x, y) in enumerate(batches(STEPS)):
            optimizer.zero_grad()
            loss(model(x), y).backward()
            hook.save_tensor("mine", torch.full((3,), float("nan") if breaks and step >= BREAKS_AT else 1.0 + step))
            optimizer.step()
    return Trial(Run.open(out))


def statuses(trial: Trial, rules: str) -> dict[str, tuple[Status, int | None]]:
    """Return how each rule stands after it has looked, and the step that it found first."""
    with Watcher(trial, [recipe.make(trial) for recipe in rule_recipes(rules)]) as watcher:
        last = list(watcher.looks(follow=False))[-1]
    first = {one.code: one.where["step"] for one in reversed(trial.run.findings()) if "step" in one.where}
    return {one.rule.rule_name: (one.status, first.get(one.rule.rule_name)) for one in last.watched}


@pytest.mark.parametrize("every", [0, 1])
def test_a_tensor_that_the_loop_saved_is_looked_at(tmp_path: Path, every: int) -> None:
    sick = train(tmp_path / "sick", breaks=True, statistics_every=every)
    assert statuses(sick, "ExplodingTensor") == {"ExplodingTensor": (Status.FIRED, BREAKS_AT)}
    well = train(tmp_path / "well", breaks=False, statistics_every=every)
    assert statuses(well, "ExplodingTensor") == {"ExplodingTensor": (Status.SILENT, None)}


def test_full_tensors_are_judged_where_no_statistics_were_kept(tmp_path: Path) -> None:
    settings = {
        "statistics_every": 0,
        "include_collections": ["weights", "gradients"],
        "save_config": smd.SaveConfig(save_interval=1),
    }
    trial = train(tmp_path / "run", breaks=False, **settings)
    found = statuses(trial, "AllZero,UnchangedTensor,VanishingGradient,WeightUpdateRatio")
    assert {status for status, _ in found.values()} == {Status.SILENT}
    assert health_of(trial.run, RunState.FINISHED).sentence.startswith("healthy: 4 rules looked at it up to step 11")


def test_where_nothing_of_the_tensors_was_kept_rules_are_skipped_and_nothing_is_healthy(tmp_path: Path) -> None:
    model = net()
    with smd.Hook(tmp_path / "run", statistics_every=0) as hook:
        hook.register_module(model)
        for x, _ in batches(STEPS):
            model(x)
            hook.save_scalar("accuracy", 0.5)
    trial = Trial(Run.open(tmp_path / "run"))
    found = statuses(trial, "ExplodingTensor,AllZero,UnchangedTensor,HookSilent")
    assert {status for status, _ in found.values()} == {Status.SKIPPED}
    health = health_of(trial.run, RunState.FINISHED)
    assert (health.verdict, health.sentence) == (
        "not checked",
        "Not checked yet: 4 rules looked, and none could judge a step",
    )


def test_rules_inside_the_hook_count_as_rules_that_looked(tmp_path: Path) -> None:
    trial = train(tmp_path / "run", breaks=False, rules=["ExplodingTensor", "VanishingGradient"])
    health = health_of(trial.run, RunState.FINISHED)
    assert health.sentence == "healthy: 2 rules looked at it up to step 11 and found nothing"


def test_a_rule_inside_the_hook_that_could_judge_nothing_is_no_health(tmp_path: Path) -> None:
    with smd.Hook(tmp_path / "run", rules=["VanishingGradient"]) as hook:
        model = net()
        hook.register_module(model)
        for x, _ in batches(STEPS):
            model(x)  # no backward pass: no gradients
    health = health_of(Run.open(tmp_path / "run"), RunState.FINISHED)
    assert health.sentence == "Not checked yet: 1 rule looked, and none could judge a step"
