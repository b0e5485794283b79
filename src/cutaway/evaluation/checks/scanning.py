"""Reads as many samples as a time budget allows, and keeps a hash of the inputs and the class of each.

Which samples come first is random but seeded, and every subset gets its share: what was left out is left out of all.
"""

from __future__ import annotations

import heapq
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset import Dataset
from cutaway.dataset.checks import class_of, has_several_labels
from cutaway.dataset.content import content_hash
from cutaway.dataset.functions import Field
from cutaway.dataset.subset import Subset, sample_id
from cutaway.evaluation.checks.looking import (
    GROUND_TRUTH,
    INPUT,
    ROLES,
    CallFailure,
    LimitedCalls,
    labels_of,
    why_call_failed,
)
from cutaway.evaluation.checks.sheet import Sheet

__all__ = ["Scan", "Scanned", "judge_unread", "scan"]

# After so many failures in a row nothing more is to be learned.
PATIENCE = 20


@dataclass(frozen=True)
class Scanned:
    """One sample: its position, the hash of its inputs, and its class by ground truth, where it has one.

    `content` is empty where an input is not finite: what is broken in the same way is not the same sample. `several`
    are the ground truths that name more than one label of it.
    """

    index: int
    content: bytes
    classes: Mapping[str, int]
    several: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Unread:
    """A sample that could not be read: its subset and position, which encoder failed, and why."""

    subset: str
    index: int
    row: tuple[str, str]
    failure: CallFailure


@dataclass
class Scan:
    """The samples that were read, by subset, those that could not be, and how many there are in all."""

    dataset: Dataset
    samples: dict[str, list[Scanned]] = field(default_factory=dict)
    unread: list[Unread] = field(default_factory=list)

    @property
    def compared(self) -> dict[str, int]:
        """How many samples of each subset were read."""
        return {name: len(rows) for name, rows in self.samples.items()}

    @property
    def multi_label(self) -> frozenset[str]:
        """The ground truths that name several labels of some sample, so that one label is no class of any."""
        return frozenset(name for rows in self.samples.values() for row in rows for name in row.several)

    def sample(self, subset: str, one: Scanned) -> str:
        """Return the id of a sample that was read."""
        return sample_id(subset, self.dataset.subsets[subset].ids(one.index, one.index + 1)[0])

    def share(self, *subsets: str) -> str:
        """Say in words how many samples a conclusion rests on."""
        read = sum(len(self.samples.get(name, ())) for name in subsets)
        whole = sum(len(self.dataset.subsets[name]) for name in subsets)
        return f"all {whole:,} samples" if read == whole else f"{read:,} of {whole:,} samples"


def scan(dataset: Dataset, call: LimitedCalls, seconds: float, seed: int) -> Scan:
    """Read samples of all subsets until all are read or the time is up."""
    found = Scan(dataset, {name: [] for name in dataset.subsets})
    deadline = time.monotonic() + seconds
    failures = 0
    for name, index in _order({name: len(subset) for name, subset in dataset.subsets.items()}, seed):
        if time.monotonic() > deadline or failures >= PATIENCE:
            break
        subset = dataset.subsets[name]
        truths = dataset.ground_truths if dataset.labelled(name) else ()
        asked: list[tuple[str, str]] = []
        outcome = call(lambda s=subset, i=index, t=truths, a=asked: _scan_sample(dataset, s, i, t, a))  # type: ignore[misc]
        if outcome.late:
            break
        failure = why_call_failed(outcome, call.seconds)
        if failure is not None:
            failures += 1
            found.unread.append(Unread(name, index, asked[-1], failure))
            continue
        failures = 0
        found.samples[name].append(outcome.value)
    return found


def judge_unread(sheet: Sheet, scan: Scan) -> None:
    """Tell of encoders that failed only on samples that nobody had looked at before these were compared."""
    groups: dict[tuple[str, str], list[Unread]] = {}
    for one in scan.unread:
        if not sheet.told("binding-raises", one.row[1]):
            groups.setdefault(one.row, []).append(one)
    tried = len(scan.unread) + sum(map(len, scan.samples.values()))
    for row, failed in groups.items():
        first = failed[0]
        sample = sample_id(first.subset, scan.dataset.subsets[first.subset].ids(first.index, first.index + 1)[0])
        sheet.find(
            "binding-raises",
            "error",
            f"{row[0].capitalize()} {row[1]!r} failed for {sample!r}: {first.failure.reason.rstrip('.')} "
            f"({len(failed):,} of {tried:,} samples that were compared failed)",
            "Repair that line, or leave the sample out in preprocess.",
            row=row,
            subset=first.subset,
            sample=sample,
            place=first.failure.place,
            evidence={"failed": len(failed), "called": tried},
        )


def _scan_sample(
    dataset: Dataset, subset: Subset, index: int, truths: Sequence[Field], asked: list[tuple[str, str]]
) -> Scanned:
    """Read one sample. `asked` is given every encoder before it is called: the last is the one that failed."""

    def encode(kind: str, name: str) -> Array:
        asked.append((kind, name))
        return subset.encode(ROLES[kind], name, index)

    inputs = {one.name: np.asarray(encode(INPUT, one.name)) for one in dataset.inputs}
    given = {one.name: encode(GROUND_TRUTH, one.name) for one in truths}
    classes = {one.name: class_of(given[one.name], len(labels_of(dataset, one))) for one in truths}
    known = {name: one for name, one in classes.items() if one is not None}
    several = frozenset(name for name, values in given.items() if has_several_labels(values))
    finite = all(values.dtype.kind != "f" or np.isfinite(values).all() for values in inputs.values())
    return Scanned(index, bytes.fromhex(content_hash(inputs)) if finite else b"", known, several)


def _order(lengths: Mapping[str, int], seed: int) -> Iterator[tuple[str, int]]:
    """Walk through all subsets at once, each in a random order, in step with its length."""
    walks = [_walk(name, length, seed) for name, length in lengths.items()]
    for _, name, index in heapq.merge(*walks):
        yield name, index


def _walk(name: str, length: int, seed: int) -> Iterator[tuple[float, str, int]]:
    # Reproducible, and nobody's secret. A list of positions costs 8 bytes a sample, which any index costs more than.
    positions = list(range(length))
    random.Random(seed).shuffle(positions)
    for i, index in enumerate(positions):
        yield (i + 1) / length, name, index
