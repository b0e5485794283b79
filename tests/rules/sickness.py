"""Small runs that the tests of the watcher share."""

from __future__ import annotations

import numpy as np

from cutaway.testing.rules import ScriptedRun

GRADIENT = "gradient/fc.weight"


def train(run: ScriptedRun, steps: int, *, gradient: float = 1e-3) -> None:
    """Add steps with one gradient of a size and a loss."""
    for _ in range(steps):
        step = run.newest_step() + 1
        run.step(
            tensors={GRADIENT: np.array([gradient, -gradient])},
            scalars={"loss": 1.0 / (1 + step)},
            samples=[f"training/{step}"],
        )


def sick_run(*, healthy: int = 30, sick: int = 30) -> ScriptedRun:
    """Return a run whose gradient vanishes after some steps."""
    run = ScriptedRun()
    train(run, healthy)
    train(run, sick, gradient=1e-9)
    return run
