"""The part of the demo about rules: what they say of the healthy run, and of one with a planted sick layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cutaway.run import Run
    from cutaway.trial.summary import Facts

__all__ = ["EPOCHS", "PLANTED", "sicken", "what_rules_say"]

EPOCHS = 2
PLANTED = "all biases of conv2 set to -30, so that the ReLU after it lets nothing through"


def sicken(torch: Any, model: Any) -> None:
    """Plant the fault."""
    with torch.no_grad():
        model.conv2.bias.fill_(-30.0)


def what_rules_say(run: Run) -> Facts:
    """Let all rules look at a finished run, as `cutaway watch` does, and return how it is."""
    from cutaway.rules.health import health_of
    from cutaway.rules.making import make_rules
    from cutaway.rules.runner import Status
    from cutaway.rules.watcher import Watcher
    from cutaway.trial import Trial

    trial = Trial(run)
    with Watcher(trial, make_rules(trial=trial)) as watcher:
        last = list(watcher.looks(follow=False))[-1]
    looked = sum(one.status in (Status.SILENT, Status.FIRED) for one in last.watched)
    return {
        "path": run.path,
        "rules": len(last.watched),
        "looked": looked,
        "health": health_of(run).to_dict(),
    }
