"""HookSilent: what was asked for does not arrive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cutaway.arrays import BoolArray, IndexArray, Int64Array
from cutaway.rules.arguments import Whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.run.layout import COLLECTIONS_FILE
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.statistics_blocks import StatisticsBlock
from cutaway.trial import Trial

__all__ = ["HookSilent"]


# Included without being asked for.
_ALWAYS = ("losses",)


@dataclass(eq=False, repr=False, kw_only=True)
class HookSilent(Rule):
    """Something that the hook was asked for does not arrive.

    What it sees:
        A tensor that came with each of at least `patience` recorded steps of a mode has been missing from the last
        `patience` steps of that mode, while other tensors still came. One that comes now and then, as from a module
        that is seldom used, is not looked at. On a run folder it also sees a collection of `include_collections` of
        which nothing has come in the first `patience` steps, and steps whose statistics were due but are empty.

    Why it matters:
        All rules that need these tensors see nothing, which looks like health.

    What to try:
        `torch.compile` leaves out the hooks of inner modules: register the compiled model, or compile after the hook
        is attached. A module that was replaced, or whose weights are used without calling it, is no longer seen.
        Gradients stop coming from layers that were frozen; then all is well. For a collection of which nothing ever
        came, compare its pattern with the names that `cutaway tensors RUN` lists.

    Needs:
        Statistics of any tensors, which the hook keeps of every step unless told otherwise.

    Parameters:
        patience: how many recorded steps of a mode a tensor may be missing, and in how many it must have come before.
    """

    patience: Whole = Whole(20, least=1)

    def reset(self) -> None:
        """Forget which tensors came."""
        self._attendance: dict[str, _Attendance] = {}
        self._fired: set[str] = set()
        self._recorded = 0  # steps so far

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Note which tensors came with which steps."""
        rows = reader.step_window(start, stop)
        blocks = reader.statistics_blocks(reader.tensor_names(), start, stop)
        counted = self._recorded
        self._recorded += len(rows["step"])
        if counted < self.patience <= self._recorded and isinstance(reader, Trial):
            yield from self._never_came(reader, int(rows["step"][self.patience - 1 - counted]))
        # What is only saved in full comes and goes as somebody asks for it.
        recorded = [block.steps[block.recorded] for block in blocks]
        steps = np.unique(np.concatenate([np.empty(0, np.int64), *recorded]))
        if not len(steps):
            return
        missing: dict[str, BoolArray] = {}
        for mode in sorted(set(rows["mode"].tolist())):
            own = np.isin(steps, rows["step"][rows["mode"] == mode])
            attendance = self._attendance.setdefault(mode, _Attendance(self.patience))
            for name, fires in attendance.take(steps[own], blocks).items():
                missing.setdefault(name, np.zeros(len(steps), bool))[own] |= fires
        yield from self._judged(steps, missing)

    def _judged(self, steps: Int64Array, missing: dict[str, BoolArray]) -> Iterator[Judgement]:
        self._fired.update(missing)
        names = sorted(self._fired)
        fires = np.zeros((len(names), len(steps)), bool)
        for row, name in enumerate(names):
            fires[row] = missing.get(name, False)
        value = np.where(fires, float(self.patience), 0.0)

        def message(tensor: int, step: int) -> str:
            return (
                f"{names[tensor]} no longer comes: it is missing from the {self.patience} recorded steps up to step "
                f"{steps[step]}, with which other tensors came; before, it came with every step."
            )

        yield Judgement(names, steps, fires, value, self.patience, message)

    def _never_came(self, trial: Trial, step: int) -> Iterator[Judgement]:
        """Look, once, after `patience` steps, whether all that was asked for has come."""
        said = _empty_collections(trial, step) or _empty_statistics(trial, step)
        if said:
            yield Judgement.of_one("", [step], [True], [self.patience], self.patience, lambda _: said)


def _empty_collections(trial: Trial, step: int) -> str:
    """Return a sentence about the included collections of which nothing has come, or nothing."""
    asked = (trial.run.document(COLLECTIONS_FILE) or {}).get("included", ())
    known = [name for name in asked if name not in _ALWAYS and name in trial.collections()]
    empty = [name for name in known if not trial.tensor_names(collection=name)]
    if not empty:
        return ""
    noun = "collection" if len(empty) == 1 else "collections"
    return (
        f"Nothing has come of the {noun} {', '.join(map(repr, empty))} up to step {step}, although the hook was asked "
        f"for {'it' if len(empty) == 1 else 'them'}."
    )


def _empty_statistics(trial: Trial, step: int) -> str:
    """Return a sentence where statistics of steps were due and none has come, or nothing."""
    due = sum(trial.step_table()["statistics"].to_pylist())
    if not due or trial.tensor_names():
        return ""
    return f"{due} steps up to step {step} should have statistics, but no tensor has come with any of them."


class _Attendance:
    """Which tensors came with the steps of one mode."""

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self._places: dict[str, int] = {}
        self._names: list[str] = []
        self._came = np.empty(0, np.int64)  # how many steps one after the other each came, up to where it last did
        self._missing = np.empty(0, np.int64)  # of those that came regularly: how many steps ago that was

    def take(self, steps: Int64Array, blocks: Sequence[StatisticsBlock]) -> dict[str, BoolArray]:
        """Take in steps; return where tensors are missing that should have come."""
        found: dict[str, BoolArray] = {}
        absent = np.ones(len(self._names), bool)
        for block in blocks:
            came = np.isin(steps, block.steps[block.recorded])
            if came.any():
                places = self._places_of(block.names)
                absent[places[places < len(absent)]] = False
                self._follow(places, came, found)
        self._follow(np.flatnonzero(absent), np.zeros(len(steps), bool), found)
        return found

    def _places_of(self, names: Sequence[str]) -> IndexArray:
        for name in names:
            if name not in self._places:
                self._places[name] = len(self._names)
                self._names.append(name)
        more = np.zeros(len(self._names) - len(self._came), np.int64)
        self._came, self._missing = np.concatenate([self._came, more]), np.concatenate([self._missing, more])
        return np.array([self._places[name] for name in names], np.intp)

    def _follow(self, places: IndexArray, came: BoolArray, found: dict[str, BoolArray]) -> None:
        """Take in steps with which some tensors all came, or all did not."""
        if not len(places) or not len(came):
            return
        for first, last in pairwise([0, *(np.flatnonzero(np.diff(came)) + 1).tolist(), len(came)]):
            if came[first]:
                again = self._missing[places] > 0
                self._came[places] = np.where(again, 0, self._came[places]) + last - first
                self._missing[places] = 0
                continue
            regular = self._came[places] >= self._patience
            self._came[places[~regular]] = 0
            since = self._missing[places]
            self._missing[places[regular]] += last - first
            for place in np.flatnonzero(regular & (since + last - first >= self._patience)).tolist():
                begin = max(first + self._patience - 1 - int(since[place]), first)
                fires = found.setdefault(self._names[places[place]], np.zeros(len(came), bool))
                fires[begin:last] = True
