"""Times bare, bare-again and captured training side by side in one process.

Two measurements. *Triples*: short stretches in shuffled order, thousands of times close together, so that whatever
else the machine does hits all three alike; they give the ratio that is held to the bar. *Blocks*: long stretches
without a pause, the captured ones ended by a flush, so that background work cannot hide; they give the process-CPU
ratio and the sustained wall ratio.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.accuracy import Accuracy, Array, Key, compare_statistics, compare_tensors
from benchmarks.adapters import Tool
from benchmarks.cases import Case, Mode
from benchmarks.figures import Floats
from benchmarks.machine import touch_pages
from benchmarks.models import Batch, Trainee, batches

WARM_UP_STEPS = 20
OBSERVATIONS = 8
# Somewhat more than the steps of one stretch, since other things take pages too.
TOUCHED_STEPS = 4
BARE, AGAIN, CAPTURED = range(3)
ORDERS = tuple(itertools.permutations((BARE, AGAIN, CAPTURED)))


@dataclass(frozen=True)
class Triples:
    """Seconds of each timed stretch, one column a triple, and what was found in the run afterwards."""

    bare: Floats
    again: Floats
    captured: Floats
    expected_steps: int
    recorded_steps: int
    same_weights: bool
    accuracy: Accuracy | None


@dataclass(frozen=True)
class Blocks:
    """Wall and process-CPU ratios of long captured stretches, flush included, to bare ones."""

    wall_ratios: list[float]
    cpu_ratios: list[float]
    expected_steps: int
    recorded_steps: int


class Runner:
    """A trainee with its own place in the data, so that all of a trio see the same batches in the same order."""

    def __init__(self, trainee: Trainee, step: Callable[[Batch], None], data: list[Batch]) -> None:
        self.trainee = trainee
        self.count = 0
        self._step = step
        self._data: Iterator[Batch] = itertools.cycle(data)

    def run(self, steps: int) -> None:
        """Take `steps` steps."""
        for _ in range(steps):
            self._step(next(self._data))
        self.count += steps

    def timed(self, steps: int) -> tuple[float, float]:
        """Wall and process-CPU seconds of `steps` steps."""
        wall, cpu = time.perf_counter(), time.process_time()
        self.run(steps)
        return time.perf_counter() - wall, time.process_time() - cpu

    def weights(self) -> dict[str, Array]:
        """Copies of the parameters now."""
        return {name: _copy(one) for name, one in self.trainee.model.named_parameters()}

    def gradients(self) -> dict[str, Array]:
        """Copies of the gradients now."""
        parameters = self.trainee.model.named_parameters()
        return {f"gradient/{name}": _copy(one.grad) for name, one in parameters if one.grad is not None}


@dataclass
class Trio:
    """Two bare runners and a captured one, alike in everything but the tool."""

    case: Case
    tool: Tool
    folder: Path
    runners: list[Runner] = field(init=False)
    truth: dict[Key, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        data = batches()
        bare, again, captured = (Trainee(self.case.model) for _ in range(3))
        self.tool.attach(captured, self.folder)
        step = self.tool.captured_step(captured)
        self.runners = [Runner(bare, bare.step, data), Runner(again, again.step, data), Runner(captured, step, data)]
        for runner in self.runners:
            runner.run(WARM_UP_STEPS)

    def triple(self, order: tuple[int, ...]) -> tuple[float, float, float]:
        """One stretch of each, in this order."""
        seconds = [0.0, 0.0, 0.0]
        for which in order:
            runner = self.runners[which]
            self.touch_pages(TOUCHED_STEPS)
            if self.case.pause:
                time.sleep(self.case.pause)
            runner.run(self.case.lead)
            seconds[which], _ = runner.timed(self.case.steps)
        return seconds[BARE], seconds[AGAIN], seconds[CAPTURED]

    def touch_pages(self, steps: int) -> None:
        """Make memory ready for what `steps` steps write."""
        if self.case.step_bytes:
            touch_pages(self.folder.parent, steps * self.case.step_bytes)

    def observe(self) -> None:
        """Take untimed steps of all three up to one that is due, and keep what was really in its tensors."""
        captured = self.runners[CAPTURED]
        ahead = -captured.count % self.case.every
        for runner in self.runners:
            runner.run(ahead)
        step, weights = captured.count, captured.weights()
        for runner in self.runners:
            runner.run(1)
        self.truth.update({(step, name): array for name, array in (weights | captured.gradients()).items()})

    def accuracy(self) -> Accuracy | None:
        """How what was read back compares with what was observed."""
        steps = sorted({step for step, _ in self.truth})
        if self.case.mode is Mode.STATISTICS:
            statistics = self.tool.read_statistics(self.folder, steps)
            return None if statistics is None else compare_statistics(self.truth, statistics)
        if self.case.mode in {Mode.TENSORS, Mode.BOTH}:
            tensors = self.tool.read_tensors(self.folder, steps)
            return None if tensors is None else compare_tensors(self.truth, tensors)
        return None

    @property
    def expected_steps(self) -> int:
        """How many steps were due."""
        return 0 if self.case.mode is Mode.IDLE else -(-self.runners[CAPTURED].count // self.case.every)


def measure_triples(case: Case, tool: Tool, folder: Path, *, triples: int, seed: int = 0) -> Triples:
    """Run `triples` triples of `case` and read back what the tool recorded."""
    trio = Trio(case, tool, folder)
    shuffle = random.Random(seed)
    pause_between = max(1, triples // OBSERVATIONS)
    rows: list[tuple[float, float, float]] = []
    for number in range(triples):
        if number % pause_between == 0 and case.mode is not Mode.IDLE:
            trio.observe()
        rows.append(trio.triple(shuffle.choice(ORDERS)))
    tool.close()
    times = np.array(rows, dtype=np.float64).T
    return Triples(
        bare=times[BARE],
        again=times[AGAIN],
        captured=times[CAPTURED],
        expected_steps=trio.expected_steps,
        recorded_steps=tool.recorded_steps(folder),
        same_weights=_same_weights(trio.runners),
        accuracy=trio.accuracy(),
    )


def measure_blocks(case: Case, tool: Tool, folder: Path, *, repeats: int, steps: int) -> Blocks:
    """Alternate long bare and captured blocks; the captured one ends when its last record is in its file."""
    trio = Trio(case, tool, folder)
    bare, captured = trio.runners[BARE], trio.runners[CAPTURED]
    tool.flush()
    wall_ratios: list[float] = []
    cpu_ratios: list[float] = []
    for _ in range(repeats):
        wall, cpu = bare.timed(steps)
        trio.touch_pages(steps)
        begin, cpu_begin = time.perf_counter(), time.process_time()
        captured.run(steps)
        tool.flush()
        wall_ratios.append((time.perf_counter() - begin) / wall)
        cpu_ratios.append((time.process_time() - cpu_begin) / cpu)
    tool.close()
    return Blocks(wall_ratios, cpu_ratios, trio.expected_steps, tool.recorded_steps(folder))


def _same_weights(runners: list[Runner]) -> bool:
    """Whether capture left the training as it was, to the last bit."""
    first, *others = (runner.weights() for runner in runners)
    return all(np.array_equal(first[name], other[name]) for other in others for name in first)


def _copy(tensor: torch.Tensor | Any) -> Array:
    array: Array = tensor.detach().clone().numpy()
    return array
