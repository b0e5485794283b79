"""Writes the long run that all rules look at: made-up values, but through the hook's own steps, queue and writer.

A real training of that length would take too long, and nobody could say of it at which steps it is sick.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import cutaway
from cutaway.capture.adapter import Worker
from cutaway.capture.hook import AdaptedHook
from cutaway.capture.recorder import Recorder
from cutaway.capture.records import Layout, Offer, Slab, SlabPool, StepRecord
from cutaway.capture.requests import Refused
from cutaway.capture.settings import HookSettings
from cutaway.tensors.blocked_statistics import StatisticsPlan
from cutaway.tensors.collections import Collections
from cutaway.tensors.modes import ModeKeys

__all__ = ["TENSORS", "LongRun", "write_long_run"]

Floats = npt.NDArray[np.float32]

LAYERS = 40
WIDTH = 32
ACTIVATIONS = 17  # layers whose activation is recorded, what goes in and what comes out
CLASSES = 10
BATCH = 32
# Parameters, their gradients, activations, a tanh, and what goes into the model and into and out of the loss.
TENSORS = 4 * LAYERS + 2 * ACTIVATIONS + 2 + 4
EVAL_EVERY, EVAL_STEPS = 500, 10
# Made once and used in turn, so that writing takes no longer than it must; their sum is zero, so weights come back.
DIFFERENT = 64
STEP_SECONDS = 0.02
LEARNING_RATE = 0.01
# A writer on a busy machine may be slow, but no step may be left out.
PATIENCE = 30.0


@dataclass(frozen=True)
class LongRun:
    """What was written, and what rules must find in it; nothing else is wrong."""

    steps: int
    tensors: int
    nan_step: int
    nan_tensor: str
    vanished_step: int
    vanished_tensor: str


@dataclass(frozen=True)
class _Views:
    pool: SlabPool


class _PatientQueue:
    """Waits for the writer, so that no step is left out."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def put(self, record: StepRecord) -> None:
        """Hand a step to the writer."""
        if not self._recorder.submit(record, PATIENCE):
            message = f"The writer did not take step {record.step} within {PATIENCE:.0f} s; it is of no use."
            raise RuntimeError(message)

    def add(self, late: StepRecord) -> None:
        """Nothing comes late."""

    def list_counted(self, newest: tuple[int, ModeKeys, int] | None, epoch: int | None) -> None:
        """Every step is listed."""


class _MadeUpTraining:
    """Feeds steps to a hook as the adapter of a framework does."""

    framework = "made up"
    versions: Mapping[str, str] = {"cutaway": cutaway.__version__}
    worker = Worker()

    def __init__(self, folder: Path, steps: int, *, layers: int, width: int, seed: int = 0) -> None:
        settings = HookSettings(
            out_dir=folder,
            include_collections=["weights", "biases", "gradients", "inputs", "outputs", "labels", "predictions"],
            channel_activity="relu",
            disk_budget=10**12,
        )
        self.hook = AdaptedHook(self, settings)
        assert self.hook.recorder is not None
        self.hook.steps.queue = _PatientQueue(self.hook.recorder)
        self._random = np.random.default_rng(seed)
        self._made_of = steps
        self._begins = time.time() - steps * STEP_SECONDS
        names = [f"Net_blocks.{i}.linear.{kind}" for i in range(layers) for kind in ("weight", "bias")]
        shapes = [shape for _ in range(layers) for shape in ((width, width), (width,))]
        everything = (*names, *(f"gradient/{name}" for name in names))
        sizes = [int(np.prod(shape)) for shape in shapes * 2]
        plan = StatisticsPlan(list(zip(everything, sizes, strict=True)))
        layout = Layout(everything, ("float32",) * len(everything), tuple(shapes * 2), len(names), plan)
        self._pool = SlabPool(layout)
        self.parameters = names
        self._split = plan.slices[len(names)].start
        self._weights = self._normal(self._split) * np.float32(0.2)
        self._gradients = self._normal((DIFFERENT, plan.size - self._split)) * np.float32(0.01)
        self._gradients -= self._gradients.mean(axis=0)
        # What lies between the tensors of a slab must stay zero.
        self._filled = np.zeros(plan.size, bool)
        for place in plan.slices:
            self._filled[place] = True
        self._activations = [self._activations_of(i) for i in range(DIFFERENT)]

    def run_step(self, mode: ModeKeys, spoiled: dict[str, float]) -> None:
        """Record one step; `spoiled` names gradients all of whose values are one number."""
        steps = self.hook.steps
        if mode is not steps.mode:
            self.hook.set_mode(mode)
        first = steps.counter.step * BATCH
        subset = "training" if mode is ModeKeys.TRAIN else "validation"
        self.hook.set_samples([(first + i) % 50_000 for i in range(BATCH)], subset)
        record = steps.begin()
        record.time = self._begins + record.step * STEP_SECONDS
        phases = {"data": 0.001, "forward": 0.006, "backward": 0.010, "optimizer": 0.002}
        jitter = self._random.uniform(0.95, 1.05, len(phases)).tolist()
        record.seconds = {name: much * by for (name, much), by in zip(phases.items(), jitter, strict=True)}
        record.offers = [*self._activations[record.step % DIFFERENT], *self._loss(record, mode)]
        if mode is ModeKeys.TRAIN:
            record.slab = self._slab(record.step, spoiled)
            record.scalars.append(("learning_rate", LEARNING_RATE))
        self.hook.nudge()
        steps.end()

    def attach(self, hook: AdaptedHook) -> None:
        """Steps are told one by one."""

    def resolve(self, collections: Collections) -> None:
        """All have names."""

    def complete(self, record: StepRecord) -> None:
        """Nothing is missing."""

    def set_idle(self, steps: int) -> None:
        """Every step is told."""

    def set_learning_rate(self, arguments: Mapping[str, Any]) -> str:
        """There is none."""
        raise Refused(f"nothing trains here that has {', '.join(arguments)}")

    def detach(self) -> None:
        """There is nothing to detach from."""

    def _slab(self, step: int, spoiled: dict[str, float]) -> Slab:
        slab = self._pool.acquire(0.0)
        while slab is None:
            self.hook.nudge(urgently=True)
            slab = self._pool.acquire(0.1)
        slab.views, slab.present = _Views(self._pool), [True] * len(slab.layout.names)
        gradient = self._gradients[step % DIFFERENT]
        slab.buffer[: self._split], slab.buffer[self._split :] = self._weights, gradient
        self._weights -= np.float32(LEARNING_RATE) * gradient[: self._split]
        slab.buffer *= self._filled
        for name, value in spoiled.items():
            slab.values(slab.layout.names.index(name))[:] = value
        return slab

    def _loss(self, record: StepRecord, mode: ModeKeys) -> list[Offer]:
        """A loss that falls throughout, a little higher where the model is evaluated."""
        noise = float(self._random.uniform(-1e-4, 1e-4))
        loss = 2.3 * float(np.exp(-2.0 * record.step / self._made_of)) * (1 + noise)
        loss *= 1.03 if mode is ModeKeys.EVAL else 1.0
        record.scalars.append(("loss", loss))
        return [Offer("CrossEntropyLoss_output_0", np.array(loss, np.float32), "float32")]

    def _activations_of(self, number: int) -> list[Offer]:
        """What goes into and comes out of activations, the model and its loss at one of the different steps."""
        offers = []
        for i in range(ACTIVATIONS):
            value = self._normal((BATCH, WIDTH))
            offers.append(Offer(f"blocks.{i}.relu_input_0", value, "float32"))
            offers.append(Offer(f"blocks.{i}.relu_output_0", np.maximum(value, 0), "float32", activity=True))
        value = self._normal((BATCH, WIDTH))
        offers.append(Offer("head.tanh_input_0", value, "float32"))
        offers.append(Offer("head.tanh_output_0", np.tanh(value), "float32"))
        labels = (np.arange(BATCH) + number) % CLASSES
        scores = self._normal((BATCH, CLASSES)) + np.float32(8) * np.eye(CLASSES, dtype=np.float32)[labels]
        offers.append(Offer("Net_input_0", self._normal((BATCH, 1, 8, 8)), "float32"))
        offers.append(Offer("CrossEntropyLoss_input_0", scores, "float32"))
        offers.append(Offer("CrossEntropyLoss_input_1", labels.astype(np.float32), "float32"))
        return offers

    def _normal(self, shape: Any) -> Floats:
        found: Floats = self._random.standard_normal(shape, dtype=np.float32)
        return found


def write_long_run(folder: Path, steps: int, *, layers: int = LAYERS, width: int = WIDTH) -> LongRun:
    """Write a run of so many steps that is healthy but for two gradients, each at one step near the end."""
    training = _MadeUpTraining(folder, steps, layers=layers, width=width)
    nan, vanished = (f"gradient/{training.parameters[place]}" for place in (6, 20))
    nan_step, vanished_step = (_training_step(int(steps * share)) for share in (0.9, 0.95))
    spoiled = {nan_step: {nan: np.nan}, vanished_step: {vanished: 0.0}}
    for step in range(steps):
        training.run_step(ModeKeys.EVAL if _evaluates(step) else ModeKeys.TRAIN, spoiled.get(step, {}))
    training.hook.close()
    return LongRun(steps, TENSORS + 4 * (layers - LAYERS), nan_step, nan, vanished_step, vanished)


def _evaluates(step: int) -> bool:
    return step % EVAL_EVERY >= EVAL_EVERY - EVAL_STEPS


def _training_step(step: int) -> int:
    """The step itself, or one before it that trains: no other has gradients."""
    return step - EVAL_STEPS if _evaluates(step) else step
