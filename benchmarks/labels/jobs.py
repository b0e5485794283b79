"""Which trainings and tables each part measures, in full and for a smoke run. Starts nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.labels.planting import CLEAN, KINDS, ONE_SIDED
from benchmarks.labels.sets import EPOCHS, SETS

__all__ = ["FULL", "QUICK", "Size", "chunks", "finding_cases", "mending_cases", "scoring_cases"]

Case = dict[str, Any]
# Elsewhere 5 % of the labels are made wrong.
RATES = {"digits": 0.10}


@dataclass(frozen=True)
class Size:
    """How much is measured: seeds of each part, tables, and the share of the samples of MNIST."""

    finding: int = 3
    scoring: int = 3
    scoring_epochs: tuple[int, ...] = EPOCHS
    mending_digits: int = 10
    mending: int = 3
    verdicts: int = 100
    planted: int = 20
    clean: int = 100
    share: float = 1.0
    whole: int = 60_000


FULL = Size()
QUICK = Size(
    finding=1,
    scoring=1,
    scoring_epochs=EPOCHS[:1],
    mending_digits=2,
    mending=1,
    verdicts=1,
    planted=1,
    clean=2,
    share=0.1,
    whole=2_000,
)


def finding_cases(*, mnist: bool) -> list[Case]:
    """Settings with a kind and a rate of wrong labels, of which all seeds are told in one row."""
    rates = {"digits": (0.05, 0.10)} | ({"MNIST": (0.05,)} if mnist else {})
    return [
        {"setting": setting, "kind": kind, "rate": rate}
        for setting in sorted(rates)
        for rate in rates[setting]
        for kind in KINDS
    ]


def scoring_cases(size: Size, settings: Iterable[str]) -> list[Case]:
    """Sets with a length of training, a kind of wrong labels, or none, and a seed.

    Of two classes, any other one and the one that it is taken for are the same.
    """
    return [
        {"setting": setting, "epochs": epochs, "kind": kind, "seed": seed}
        for setting in settings
        for epochs in size.scoring_epochs
        for kind in (CLEAN, *(KINDS[1:] if SETS[setting].two_classes else KINDS), ONE_SIDED)
        for seed in range(size.scoring)
    ]


def mending_cases(size: Size, settings: Iterable[str]) -> list[Case]:
    """Settings with a kind and a rate of wrong labels, and a seed; one kind has none planted."""
    return [
        {"setting": setting, "kind": kind, "rate": RATES.get(setting, 0.05), "seed": seed}
        for setting in settings
        for seed in range(size.mending_digits if setting == "digits" else size.mending)
        for kind in (CLEAN, *KINDS)
    ]


def chunks(seeds: Sequence[int], most: int) -> list[list[int]]:
    """Seeds in groups: a worker's start is dear, and its time is limited.

    >>> chunks(range(5), 2)
    [[0, 1], [2, 3], [4]]
    """
    return [list(seeds[at : at + most]) for at in range(0, len(seeds), most)]
