"""Actions that the training itself carries out, at the end of a step: stop, checkpoint, less learning rate, dump."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cutaway.errors import ConfigurationError
from cutaway.rules.actions.action import request_id
from cutaway.run.control import Request, ask
from cutaway.run.findings import Finding
from cutaway.run.identity import Run

__all__ = ["Checkpoint", "Dump", "ReduceLearningRate", "StopTraining"]

log = logging.getLogger("cutaway.rules")


@dataclass(frozen=True)
class StopTraining:
    """Ask the training to end after the current step: it does where the loop reads `hook.should_stop`.

    With `training_job_prefix` only runs whose name begins with it are stopped.
    """

    training_job_prefix: str | None = None

    name: ClassVar[str] = "stop"
    needs_training: ClassVar[bool] = True

    def act(self, run: Run, finding: Finding) -> bool:
        """Ask the training to stop."""
        if self.training_job_prefix and not run.name.startswith(self.training_job_prefix):
            message = "Run %r is not stopped about %s: its name does not begin with %r"
            log.warning(message, run.name, finding.code, self.training_job_prefix)
            return False
        return _ask_training(run, finding, "stop", {})


@dataclass(frozen=True)
class Checkpoint:
    """Call the function that the loop gave to `hook.on_checkpoint`."""

    name: ClassVar[str] = "checkpoint"
    needs_training: ClassVar[bool] = True

    def act(self, run: Run, finding: Finding) -> bool:
        """Ask the training for a checkpoint."""
        return _ask_training(run, finding, "checkpoint", {})


@dataclass(frozen=True)
class ReduceLearningRate:
    """Multiply the learning rate of the registered optimizer by `factor`.

    >>> ReduceLearningRate(0.5)
    ReduceLearningRate(factor=0.5)
    """

    factor: float = 0.1

    name: ClassVar[str] = "reduce-lr"
    needs_training: ClassVar[bool] = True

    def __post_init__(self) -> None:
        factor = self.factor
        if not 0 < factor < 1:
            raise ConfigurationError(f"`0 < factor < 1` must hold for ReduceLearningRate, but got factor={factor}.")

    def act(self, run: Run, finding: Finding) -> bool:
        """Ask the training to go on with less."""
        return _ask_training(run, finding, "set", {"lr_factor": self.factor})


@dataclass(frozen=True)
class Dump:
    """Save the full tensors of the next step."""

    name: ClassVar[str] = "dump"
    needs_training: ClassVar[bool] = True

    def act(self, run: Run, finding: Finding) -> bool:
        """Ask the training for its tensors."""
        return _ask_training(run, finding, "dump", {})


def _ask_training(run: Run, finding: Finding, action: str, arguments: Mapping[str, Any]) -> bool:
    attempt = finding.where.get("attempt")
    request = Request(
        action,
        "train",
        who=f"rule {finding.code}",
        why=finding.message,
        arguments=dict(arguments),
        # The next attempt has perhaps mended what this one is told.
        attempt=attempt if isinstance(attempt, int) else None,
        id=request_id(finding, action, arguments),
    )
    return ask(run.storage, request)
