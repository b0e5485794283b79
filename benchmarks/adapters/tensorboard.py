"""TensorBoard: a histogram of every weight, bias and gradient through torch's SummaryWriter."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from torch.utils.tensorboard import SummaryWriter

from benchmarks.adapters.tool import Tool
from benchmarks.cases import Mode
from benchmarks.models import Batch, Shelf, Trainee

LENGTH_AND_CHECKSUM = 12
CHECKSUM = 4


class TensorBoard(Tool):
    """Its statistics are binned counts, so there is no accuracy to compare."""

    describes: ClassVar[dict[Mode, str]] = {Mode.STATISTICS: "add_histogram"}

    def attach(self, trainee: Trainee, folder: Path) -> None:
        """Open the event file."""
        self._parameters = dict(trainee.model.named_parameters())
        self._writer = SummaryWriter(str(folder))

    def attach_shelf(self, shelf: Shelf, folder: Path) -> None:
        """Open the event file; only scalars follow."""
        self._parameters = dict(shelf.named_parameters())
        self._writer = SummaryWriter(str(folder))

    def captured_step(self, trainee: Trainee) -> Callable[[Batch], None]:
        """The plain step, then a histogram of each parameter and gradient."""
        count = 0

        def step(batch: Batch) -> None:
            nonlocal count
            trainee.step(batch)
            if count % self.every == 0:
                for name, parameter in self._parameters.items():
                    self._writer.add_histogram(name, parameter, count)
                    self._writer.add_histogram(f"gradient/{name}", parameter.grad, count)
            count += 1

        return step

    def flush(self) -> None:
        """Empty its queue."""
        self._writer.flush()

    def close(self) -> None:
        """Close the event file."""
        self._writer.close()

    def recorded_steps(self, folder: Path) -> int:
        """Records in the event file over histograms a step; the first record is the file's version."""
        records = sum(_count_records(path) for path in folder.glob("events.*")) - 1
        return records // (2 * len(self._parameters))

    def save_scalar(self, name: str, value: float, step: int) -> None:
        """Queued for its writer thread."""
        self._writer.add_scalar(name, value, step)


def _count_records(path: Path) -> int:
    """Records of an event file: length, checksum, bytes, checksum."""
    data = path.read_bytes()
    offset = count = 0
    while offset < len(data):
        (length,) = struct.unpack_from("<Q", data, offset)
        offset += LENGTH_AND_CHECKSUM + length + CHECKSUM
        count += 1
    return count
