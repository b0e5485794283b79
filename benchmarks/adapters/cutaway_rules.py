"""This project's rules: the one that it ships, and the same one written as a user of upstream writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import torch

import cutaway.torch as smd
from benchmarks.rules_invoked import STEPS, THRESHOLD, RuleTool, small_gradient
from cutaway.rules.built_in.vanishing_gradient import VanishingGradient
from cutaway.rules.invoker import invoke_rule
from cutaway.rules.rule import Rule
from cutaway.trial import create_trial

BUILT_IN = "VanishingGradient"
CUSTOM = "written as upstream's"


class CutawayRules(RuleTool):
    """The hook as it comes, statistics of every step."""

    rules: ClassVar[tuple[str, ...]] = (BUILT_IN, CUSTOM)

    def attach(
        self, model: torch.nn.Module, criterion: torch.nn.Module, optimizer: torch.optim.Optimizer, folder: Path
    ) -> None:
        """Register the model, the loss and the optimizer."""
        self._hook = smd.Hook(out_dir=str(folder))
        self._hook.register_module(model)
        self._hook.register_loss(criterion)
        self._hook.register_optimizer(optimizer)

    def close(self) -> None:
        """Finish the run."""
        self._hook.close()

    def opened(self, folder: Path) -> Any:
        """A new trial."""
        return create_trial(str(folder))

    def rule(self, trial: Any, name: str) -> Any:
        """One of the two."""
        return VanishingGradient(trial, threshold=THRESHOLD) if name == BUILT_IN else small_gradient(Rule)(trial)

    def invoke(self, rule: Any) -> None:
        """All steps."""
        invoke_rule(rule, end_step=STEPS)

    def fired(self, rule: Any) -> list[int]:
        """Ours counts only while it is timed; which steps it meant is asked afterwards, and must be as many."""
        if not isinstance(rule, VanishingGradient):
            return list(rule.fired)
        assert rule.base_trial is not None
        judgements = VanishingGradient(threshold=THRESHOLD).judged(rule.base_trial, STEPS)
        steps = sorted({step for one in judgements for step in one.steps[one.fires.any(axis=0)].tolist()})
        return steps if len(steps) == rule.report["Violations"] else []
