"""This project's hook."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import cutaway.torch as smd
from benchmarks.accuracy import Array, Key, Statistics
from benchmarks.adapters.tool import Series, Tool, plain_name, recorded_name
from benchmarks.cases import Mode
from benchmarks.models import Shelf, Trainee
from cutaway.trial import create_trial

COLLECTIONS = ("weights", "biases", "gradients")
COMPARED = ("size", "nonfinite", "zeros", "min", "max", "mean", "std", "l1", "l2")
# The default budget thins after 2.5 GB, and a run that writes less would look cheaper than it is.
NO_BUDGET = 10**15


class Cutaway(Tool):
    """The hook with the defaults that a user gets, apart from the disk budget and what each mode asks for."""

    describes: ClassVar[dict[Mode, str]] = {
        Mode.STATISTICS: "9 statistics",
        Mode.TENSORS: "full tensors",
        Mode.BOTH: "full tensors and 9 statistics",
        Mode.IDLE: "nothing due",
    }

    def attach(self, trainee: Trainee, folder: Path) -> None:
        """Register the model, the loss and the optimizer."""
        statistics = self.every if self.mode in {Mode.STATISTICS, Mode.BOTH} else 0
        tensors = self.mode in {Mode.TENSORS, Mode.BOTH}
        save = smd.SaveConfig(save_interval=1) if tensors else smd.SaveConfig(end_step=0)
        self._hook = smd.Hook(
            out_dir=str(folder),
            include_collections=list(COLLECTIONS),
            save_config=save,
            statistics_every=statistics,
            disk_budget=NO_BUDGET,
        )
        self._hook.register_module(trainee.model)
        self._hook.register_loss(trainee.criterion)
        self._hook.register_optimizer(trainee.optimizer)

    def attach_shelf(self, shelf: Shelf, folder: Path) -> None:
        """Full weights at every forward."""
        self._hook = smd.Hook(
            out_dir=str(folder),
            include_collections=["weights"],
            save_config=smd.SaveConfig(save_interval=1),
            statistics_every=0,
            disk_budget=NO_BUDGET,
        )
        self._hook.register_module(shelf)

    def flush(self) -> None:
        """Wait for the writer."""
        self._hook.flush()

    def close(self) -> None:
        """Finish the run."""
        self._hook.close()

    def recorded_steps(self, folder: Path) -> int:
        """Steps whose record can be read back."""
        trial = create_trial(str(folder))
        if self.mode is Mode.STATISTICS:
            return len(set(trial.statistics().column("step").to_pylist()))
        return len(trial.steps())

    def read_statistics(self, folder: Path, steps: Sequence[int]) -> dict[Key, Statistics] | None:
        """From the table that a user gets."""
        wanted = set(steps)
        rows = create_trial(str(folder)).statistics().select(["step", "tensor", *COMPARED])
        return {
            (row["step"], plain_name(row["tensor"])): {name: float(row[name]) for name in COMPARED}
            for row in rows.to_pylist()
            if row["step"] in wanted
        }

    def read_tensors(self, folder: Path, steps: Sequence[int]) -> dict[Key, Array] | None:
        """Through the trial."""
        trial = create_trial(str(folder))
        names = [name for one in COLLECTIONS for name in trial.tensor_names(collection=one)]
        return {(step, plain_name(name)): trial.tensor(name).value(step) for name in names for step in steps}

    def read_series(self, folder: Path, name: str, steps: Sequence[int]) -> Series:
        """Through the trial, one value after the other."""
        begin = time.perf_counter()
        tensor = create_trial(str(folder)).tensor(recorded_name("Shelf", name))
        opened = time.perf_counter()
        values = [tensor.value(step) for step in steps]
        return Series(opened - begin, time.perf_counter() - opened, values)

    def read_all(self, folder: Path, name: str) -> list[Array] | None:
        """All steps in one call of the trial."""
        return list(create_trial(str(folder)).tensor(recorded_name("Shelf", name)).values().values())

    def save_scalar(self, name: str, value: float, step: int) -> None:
        """Written when the call returns."""
        del step
        self._hook.save_scalar(name, value)
