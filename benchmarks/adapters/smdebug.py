"""smdebug 1.0.34: full tensors, or five reductions, of weights, biases and gradients."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import smdebug.pytorch as smd  # type: ignore[import-not-found]
from smdebug.trials import create_trial  # type: ignore[import-not-found]

from benchmarks.accuracy import Array, Key, Statistics
from benchmarks.adapters.tool import Series, Tool, plain_name, recorded_name
from benchmarks.cases import Mode
from benchmarks.models import Shelf, Trainee

REDUCTIONS = ("min", "max", "mean", "std")
COLLECTIONS = ("weights", "biases", "gradients")


class Smdebug(Tool):
    """The upstream hook, used as its documentation says."""

    describes: ClassVar[dict[Mode, str]] = {
        Mode.STATISTICS: "5 reductions",
        Mode.TENSORS: "full tensors",
        Mode.IDLE: "nothing due",
    }

    def attach(self, trainee: Trainee, folder: Path) -> None:
        """Register the model and the loss; smdebug takes no optimizer."""
        reductions = None
        if self.mode is Mode.STATISTICS:
            reductions = smd.ReductionConfig(reductions=list(REDUCTIONS), norms=["l2"])
        config = {"end_step": 0} if self.mode is Mode.IDLE else {"save_interval": self.every}
        self._hook: Any = smd.Hook(
            out_dir=str(folder),
            save_config=smd.SaveConfig(**config),
            reduction_config=reductions,
            include_collections=list(COLLECTIONS),
        )
        self._hook.register_module(trainee.model)
        self._hook.register_loss(trainee.criterion)

    def attach_shelf(self, shelf: Shelf, folder: Path) -> None:
        """Full weights at every forward."""
        self._hook = smd.Hook(
            out_dir=str(folder), save_config=smd.SaveConfig(save_interval=1), include_collections=["weights"]
        )
        self._hook.register_module(shelf)

    def flush(self) -> None:
        """A step's file is finished when the next step begins or, as here, when its writer is closed."""
        if self._hook.writer is not None:
            self._hook._close_writers()  # noqa: SLF001 - no public way, and without it the last step is unwritten

    def close(self) -> None:
        """Finish the last step and mark the end of the job."""
        self._hook.close()

    def recorded_steps(self, folder: Path) -> int:
        """Steps that its trial lists."""
        if self.mode is Mode.IDLE:
            return len(list(folder.glob("events/*/*")))  # a trial of a run without collections waits for ever
        return len(create_trial(str(folder)).steps())

    def read_statistics(self, folder: Path, steps: Sequence[int]) -> dict[Key, Statistics] | None:
        """Reductions as recorded; its std is the sample's, which divides by n - 1."""
        trial = create_trial(str(folder))
        found: dict[Key, Statistics] = {}
        for name in self._names(trial):
            tensor = trial.tensor(name)
            for step in steps:
                values = {one: float(tensor.reduction_value(step, one)) for one in (*REDUCTIONS, "l2")}
                values["sample_std"] = values.pop("std")
                found[(step, plain_name(name))] = values
        return found

    def read_tensors(self, folder: Path, steps: Sequence[int]) -> dict[Key, Array] | None:
        """Values as recorded."""
        trial = create_trial(str(folder))
        return {
            (step, plain_name(name)): trial.tensor(name).value(step) for name in self._names(trial) for step in steps
        }

    def read_series(self, folder: Path, name: str, steps: Sequence[int]) -> Series:
        """Through its trial, one value after the other."""
        begin = time.perf_counter()
        tensor = create_trial(str(folder)).tensor(recorded_name("Shelf", name))
        opened = time.perf_counter()
        values = [tensor.value(step) for step in steps]
        return Series(opened - begin, time.perf_counter() - opened, values)

    def read_all(self, folder: Path, name: str) -> list[Array] | None:
        """All steps in one call of the trial."""
        return list(create_trial(str(folder)).tensor(recorded_name("Shelf", name)).values().values())

    def save_scalar(self, name: str, value: float, step: int) -> None:
        """Kept in memory until a step is saved."""
        del step
        self._hook.save_scalar(name, value)

    def _names(self, trial: Any) -> list[str]:
        return [name for one in COLLECTIONS for name in trial.tensor_names(collection=one)]
