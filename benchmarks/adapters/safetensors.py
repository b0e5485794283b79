"""One safetensors file a step: the fastest that a careful user writes by hand."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from safetensors import safe_open
from safetensors.torch import save_file

from benchmarks.accuracy import Array, Key
from benchmarks.adapters.tool import Series, Tool
from benchmarks.cases import Mode
from benchmarks.models import Batch, Shelf, Trainee


class Safetensors(Tool):
    """Weights after the step and its gradients, written before the loop goes on."""

    describes: ClassVar[dict[Mode, str]] = {Mode.TENSORS: "one file a step"}

    def attach(self, trainee: Trainee, folder: Path) -> None:
        """Make the folder."""
        self._parameters = dict(trainee.model.named_parameters())
        self._open(folder)

    def attach_shelf(self, shelf: Shelf, folder: Path) -> None:
        """Make the folder."""
        self._parameters = dict(shelf.named_parameters())
        self._open(folder)

    def captured_step(self, trainee: Trainee) -> Callable[[Batch], None]:
        """The plain step, then one file."""

        def step(batch: Batch) -> None:
            trainee.step(batch)
            tensors = {name: parameter.detach() for name, parameter in self._parameters.items()}
            gradients = {name: parameter.grad for name, parameter in self._parameters.items()}
            tensors.update({f"gradient/{name}": one for name, one in gradients.items() if one is not None})
            save_file(tensors, self._next_path())

        return step

    def shelf_step(self, shelf: Shelf) -> Callable[[], None]:
        """One file of all weights."""
        weights = {name: parameter.detach() for name, parameter in shelf.named_parameters()}
        return lambda: save_file(weights, self._next_path())

    def close(self) -> None:
        """Nothing is open."""

    def recorded_steps(self, folder: Path) -> int:
        """Files."""
        return len(list(folder.iterdir()))

    def read_tensors(self, folder: Path, steps: Sequence[int]) -> dict[Key, Array] | None:
        """Gradients of each step, and the weights that its forward used: those written after the step before."""
        found: dict[Key, Array] = {}
        for step in steps:
            with safe_open(_path(folder, step), "np") as file:
                found.update({(step, key): file.get_tensor(key) for key in file.keys() if "/" in key})  # noqa: SIM118
            with safe_open(_path(folder, step - 1), "np") as file:
                found.update({(step, key): file.get_tensor(key) for key in file.keys() if "/" not in key})  # noqa: SIM118
        return found

    def read_series(self, folder: Path, name: str, steps: Sequence[int]) -> Series:
        """Open each file and take one tensor out of it."""
        begin = time.perf_counter()
        paths = sorted(folder.iterdir())
        opened = time.perf_counter()
        values: list[Array] = []
        for step in steps:
            with safe_open(paths[step], "np") as file:
                values.append(file.get_tensor(name))
        return Series(opened - begin, time.perf_counter() - opened, values)

    def _open(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._count = 0

    def _next_path(self) -> Path:
        path = _path(self._folder, self._count)
        self._count += 1
        return path


def _path(folder: Path, step: int) -> Path:
    return folder / f"{step:08d}.safetensors"
