"""A small training whose gradients are spoiled at given steps: `python -m benchmarks.rules_training FOLDER PLANTS`.

PLANTS is a JSON object of steps and codes of rules. Prints a line of JSON for each: the step, the code, and the wall
time at which that step had ended. Takes about fifty steps a second.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from itertools import cycle

import torch

import cutaway.torch as smd
from benchmarks.models import Trainee, batches

__all__ = ["EXPLODES", "STEP_SECONDS", "TAIL_STEPS", "VANISHES"]

STEP_SECONDS = 0.02
# How long it goes on after the last plant: longer than a finding may take.
TAIL_STEPS = 150
EXPLODES, VANISHES = "ExplodingTensor", "VanishingGradient"
SPOILED = {EXPLODES: ("fc1.weight", float("nan")), VANISHES: ("fc2.weight", 0.0)}


def main(arguments: list[str]) -> None:
    """Train, and say when each plant was in the ground."""
    plants = {int(step): code for step, code in json.loads(arguments[1]).items()}
    trainee = Trainee("mlp")
    parameters = dict(trainee.model.named_parameters())
    due = [""]
    for code, (name, value) in SPOILED.items():
        parameters[name].register_hook(_spoiler(code, value, due))  # type: ignore[no-untyped-call]
    hook = smd.Hook(out_dir=arguments[0])
    hook.register_module(trainee.model)
    hook.register_loss(trainee.criterion)
    # A spoiled gradient must not spoil the weights: what is looked for is one finding, at one step.
    trainee.optimizer.register_step_pre_hook(lambda *_: _forget(trainee) if due[0] else None)
    hook.register_optimizer(trainee.optimizer)
    data = cycle(batches())
    next_step = time.perf_counter()
    for step in range(max(plants) + TAIL_STEPS):
        due[0] = plants.get(step, "")
        trainee.step(next(data))
        if due[0]:
            sys.stdout.write(json.dumps({"step": step, "code": due[0], "time": time.time()}) + "\n")
            sys.stdout.flush()
        next_step += STEP_SECONDS
        time.sleep(max(0.0, next_step - time.perf_counter()))
    hook.close()


def _spoiler(code: str, value: float, due: list[str]) -> Callable[[torch.Tensor], torch.Tensor | None]:
    return lambda gradient: torch.full_like(gradient, value) if due[0] == code else None


def _forget(trainee: Trainee) -> None:
    for parameter in trainee.model.parameters():
        parameter.grad = None


if __name__ == "__main__":
    main(sys.argv[1:])
