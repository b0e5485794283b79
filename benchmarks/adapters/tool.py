"""What the benchmark asks of a capture tool."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from benchmarks.accuracy import Array, Key, Statistics
from benchmarks.cases import Mode
from benchmarks.models import Batch, Shelf, Trainee

# Tools by name; each is imported only in the virtual environment that has it.
TOOLS = {
    "cutaway": "benchmarks.adapters.cutaway:Cutaway",
    "smdebug": "benchmarks.adapters.smdebug:Smdebug",
    "tensorboard": "benchmarks.adapters.tensorboard:TensorBoard",
    "safetensors": "benchmarks.adapters.safetensors:Safetensors",
}


@dataclass(frozen=True)
class Series:
    """One tensor read at many steps: seconds to open, seconds to read, and what was read."""

    opening: float
    reading: float
    values: list[Array]


class Tool(ABC):
    """One capture tool, attached to one trainee and one new folder. Steps count from 0, one for each forward."""

    # What a reader of the table should know about this tool's figures.
    describes: ClassVar[dict[Mode, str]]

    def __init__(self, mode: Mode, *, every: int = 1) -> None:
        self.mode = mode
        self.every = every

    @abstractmethod
    def attach(self, trainee: Trainee, folder: Path) -> None:
        """Begin capturing `trainee` into `folder`, which does not exist yet."""

    def captured_step(self, trainee: Trainee) -> Callable[[Batch], None]:
        """The step to time: the plain one, unless the tool needs calls of its own in the loop."""
        return trainee.step

    def attach_shelf(self, shelf: Shelf, folder: Path) -> None:
        """Begin writing the full weights of `shelf` at each of its forwards."""
        raise NotImplementedError

    def shelf_step(self, shelf: Shelf) -> Callable[[], None]:
        """What makes one step of a shelf: a forward, unless the tool needs a call of its own."""
        return shelf.step

    def flush(self) -> None:  # noqa: B027 - a tool without a background has nothing to wait for
        """Return once everything captured so far is in its files."""

    @abstractmethod
    def close(self) -> None:
        """Finish the run."""

    @abstractmethod
    def recorded_steps(self, folder: Path) -> int:
        """How many steps can be read back from a closed run."""

    def read_statistics(self, folder: Path, steps: Sequence[int]) -> dict[Key, Statistics] | None:
        """Recorded statistics by step and tensor (`fc1.weight`, `gradient/fc1.weight`); None if it keeps none."""
        del folder, steps
        return None

    def read_tensors(self, folder: Path, steps: Sequence[int]) -> dict[Key, Array] | None:
        """Recorded values by step and tensor; None if it keeps none."""
        del folder, steps
        return None

    def read_series(self, folder: Path, name: str, steps: Sequence[int]) -> Series:
        """The values of one shelf weight at every one of `steps`, through the tool's public reader."""
        raise NotImplementedError

    def read_all(self, folder: Path, name: str) -> list[Array] | None:
        """The values of one shelf weight at all steps in the tool's own single call; None if it has none."""
        del folder, name
        return None

    def save_scalar(self, name: str, value: float, step: int) -> None:
        """Record one number."""
        raise NotImplementedError


def load(name: str, mode: Mode, *, every: int = 1) -> Tool:
    """The named tool, imported now."""
    module, _, attribute = TOOLS[name].partition(":")
    tool: Tool = getattr(importlib.import_module(module), attribute)(mode, every=every)
    return tool


def plain_name(recorded: str) -> str:
    """`gradient/Mlp_fc1.weight` as `gradient/fc1.weight`: without the class name that smdebug's naming puts first."""
    prefix, slash, rest = recorded.rpartition("/")
    _, _, parameter = rest.partition("_")
    return f"{prefix}{slash}{parameter}"


def recorded_name(model: str, plain: str) -> str:
    """The inverse of `plain_name` for a model class of this name."""
    prefix, slash, parameter = plain.rpartition("/")
    return f"{prefix}{slash}{model}_{parameter}"
