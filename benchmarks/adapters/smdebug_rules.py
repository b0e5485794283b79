"""smdebug's `invoke_rule`, with a rule that reads the one reduction that its hook was asked to save."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import smdebug.pytorch as smd  # type: ignore[import-not-found]
import torch
from smdebug.rules import Rule  # type: ignore[import-not-found]
from smdebug.rules.rule_invoker import invoke_rule  # type: ignore[import-not-found]
from smdebug.trials import create_trial  # type: ignore[import-not-found]

from benchmarks.rules_invoked import STEPS, RuleTool, small_gradient

CUSTOM = "written as upstream's"


class SmdebugRules(RuleTool):
    """The least that the rule needs is saved: of each gradient the mean of its absolute values."""

    rules: ClassVar[tuple[str, ...]] = (CUSTOM,)

    def attach(
        self, model: torch.nn.Module, criterion: torch.nn.Module, optimizer: torch.optim.Optimizer, folder: Path
    ) -> None:
        """Register the model and the loss; smdebug takes no optimizer."""
        del optimizer
        self._hook: Any = smd.Hook(
            out_dir=str(folder),
            save_config=smd.SaveConfig(save_interval=1),
            reduction_config=smd.ReductionConfig(abs_reductions=["mean"]),
            include_collections=["gradients"],
        )
        self._hook.register_module(model)
        self._hook.register_loss(criterion)

    def close(self) -> None:
        """Finish the last step and mark the end of the job."""
        self._hook.close()

    def opened(self, folder: Path) -> Any:
        """A new trial."""
        return create_trial(str(folder))

    def rule(self, trial: Any, name: str) -> Any:
        """The only one."""
        del name
        return small_gradient(Rule)(trial)

    def invoke(self, rule: Any) -> None:
        """All steps."""
        invoke_rule(rule, end_step=STEPS)

    def fired(self, rule: Any) -> list[int]:
        """As it noted itself."""
        return list(rule.fired)
