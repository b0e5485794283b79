"""A session as a person has it: train, evaluate, look for wrong labels and insights; correct; train again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from scripts.check_numbers.data import Prepared
from scripts.check_numbers.places import Commands
from scripts.check_numbers.reckoning import Answers

__all__ = ["FIRST", "MEAN", "SECOND", "Session", "Trained", "begin", "train_again"]

# The first training, the one after correcting labels, and one whose loss is a single number.
FIRST, SECOND, MEAN = "first", "second", "mean"


@dataclass(frozen=True)
class Trained:
    """What a training wrote down by itself, without Cutaway."""

    name: str
    own: dict[str, npt.NDArray[Any]]

    @classmethod
    def read(cls, folder: Path, name: str) -> Trained:
        """Read what the training of a session wrote beside its run."""
        with np.load(folder / f"{name}.npz") as held:
            return cls(name, {key: held[key] for key in held.files})

    @property
    def steps(self) -> int:
        """How many steps there were, of both modes."""
        return len(self.own["train_step"]) + len(self.own["eval_step"])

    def visits(self, row: int) -> list[tuple[int, float, float]]:
        """Return when the training saw a sample, with the loss and the margin that it had."""
        seen = np.flatnonzero(self.own["visit_row"] == row)
        steps, losses, margins = (self.own[f"visit_{name}"][seen].tolist() for name in ("step", "loss", "margin"))
        return sorted(zip(steps, losses, margins, strict=True))

    def samples_of(self, step: int) -> dict[int, float]:
        """Return the samples of a step with the loss that each had."""
        there = self.own["visit_step"] == step
        return dict(zip(self.own["visit_row"][there].tolist(), self.own["visit_loss"][there].tolist(), strict=True))


@dataclass
class Session:
    """The folder of a session, its data, and what is true of each training."""

    folder: Path
    data: Prepared
    commands: Commands
    say: Callable[[str], None]
    epochs: int
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def runs(self) -> Path:
        """Where the runs are."""
        return self.folder / "runs"

    @cached_property
    def trained(self) -> dict[str, Trained]:
        """What the trainings so far wrote down; asked again after another one."""
        return {name: Trained.read(self.folder, name) for name in (FIRST, SECOND, MEAN) if self._is_there(name)}

    def answers(self, name: str) -> Answers:
        """Return what the network of a training answered to each sample."""
        held = self.trained[name].own
        columns = {"scanner": self.data.scanner, "ink": self.data.ink, "rows_inked": self.data.rows_inked}
        scores = np.asarray(held["scores"], np.float64)
        return Answers(self.data.ids, self.data.subset, held["labels"], scores, held["latents"], columns)

    def _is_there(self, name: str) -> bool:
        return (self.folder / f"{name}.npz").is_file()


def begin(folder: Path, data: Prepared, epochs: int, say: Callable[[str], None]) -> Session:
    """Train, evaluate and analyse; what is there already in the folder is not made again."""
    session = Session(folder, data, Commands(folder), say, epochs)
    session.runs.mkdir(parents=True, exist_ok=True)
    data.save(folder / "data.npz")
    _train(session, FIRST, seed=0)
    _train(session, MEAN, seed=1, reduction="mean", evaluated=False)
    say("Analyzing ...")
    session.commands.text("analyze", FIRST)
    say("Looking for what went wrong in training ...")
    session.commands.text("watch", FIRST, "--fail-on", "never")
    return session


def train_again(session: Session, overlay: Path) -> None:
    """Train once more, with corrected labels, and compare both samples by sample."""
    _train(session, SECOND, seed=0, overlay=str(overlay))
    session.__dict__.pop("trained", None)
    for what in ("map", "clusters", "class-distances"):
        session.commands.text("analyze", SECOND, what)


def _train(
    session: Session, name: str, *, seed: int, reduction: str = "none", evaluated: bool = True, overlay: str = ""
) -> None:
    session.say(f"Training {name} ...")
    words = ["data.npz", f"runs/{name}", f"{name}.npz", "--epochs", str(session.epochs), "--seed", str(seed)]
    words += ["--reduction", reduction, *(["--evaluated"] if evaluated else [])]
    variables = {"CUTAWAY_OVERLAY": overlay} if overlay else {}
    session.commands.python("scripts.check_numbers.training", *words, **variables)
