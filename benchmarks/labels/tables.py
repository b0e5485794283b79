"""Tables of metadata in which some slices are known to be worse, and clean ones in which none is. Finds nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["COMBINING", "Planted", "clean_table", "found_planted", "planted_table"]

Figures = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

COMBINING = ("add", "worst")
"""What rows in two slices are: as bad as both add up to, or as the worse of the two."""
SMALLEST, LARGEST = 0.01, 0.10
LEAST, MOST = 0.10, 0.30
# Slices share at most so much of their rows, or they would be one.
SHARED = 0.3
SURE = 0.95


@dataclass(frozen=True)
class Planted:
    """A table, which rows are wrong, and the slices that were planted."""

    table: pa.Table
    wrong: Figures
    slices: tuple[Mask, ...]


def columns_of(random: np.random.Generator, rows: int, numbers: int, texts: int) -> tuple[pa.Table, list[Any]]:
    """Return metadata that has nothing to do with anything: numbers of four kinds, texts with 2 to 20 values."""
    kinds = (
        lambda: random.normal(size=rows),
        lambda: random.exponential(size=rows),
        lambda: random.uniform(size=rows),
        lambda: random.integers(0, 50, rows).astype(np.float64),
    )
    plain: list[Any] = [kinds[place % 4]() for place in range(numbers)]
    for _ in range(texts):
        values = int(random.integers(2, 21))
        plain.append(random.choice(values, rows, p=random.dirichlet(np.full(values, 2.0))))
    named = {
        f"metadata.{'number' if place < numbers else 'text'}_{place}": one
        if place < numbers
        else pa.array([f"v{value}" for value in one])
        for place, one in enumerate(plain)
    }
    return pa.table(named), plain


def planted_table(
    seed: int,
    *,
    combining: str = "add",
    base: float = 0.08,
    rows: int = 20_000,
    numbers: int = 10,
    texts: int = 20,
    slices: int = 20,
) -> Planted:
    """Return a table with so many weak slices: 1 % to 10 % of the rows, wrong by 10 to 30 points more."""
    random = np.random.default_rng(seed)
    table, plain = columns_of(random, rows, numbers, texts)
    chosen: list[Mask] = []
    chances = np.full(rows, base)
    while len(chosen) < slices:
        mask = _slice(random, plain, numbers)
        alike = any((mask & one).sum() > SHARED * (mask | one).sum() for one in chosen)
        if alike or not SMALLEST <= mask.mean() <= LARGEST:
            continue
        rise = random.uniform(LEAST, MOST)
        risen = chances + rise if combining == "add" else np.maximum(chances, base + rise)
        chances = np.where(mask, np.minimum(risen, SURE), chances)
        chosen.append(mask)
    return Planted(table, (random.random(rows) < chances).astype(np.float64), tuple(chosen))


def _slice(random: np.random.Generator, plain: list[Any], numbers: int) -> Mask:
    share = random.uniform(SMALLEST, LARGEST)
    if random.random() < 0.5:
        return _condition(random, plain, numbers, share)[1]
    (first, one), (second, two) = (_condition(random, plain, numbers, float(np.sqrt(share))) for _ in range(2))
    return one & two if first != second else np.zeros(len(one), np.bool_)


def _condition(random: np.random.Generator, plain: list[Any], numbers: int, share: float) -> tuple[int, Mask]:
    if random.random() < 0.5:
        place = int(random.integers(numbers))
        begin = (0.0, 1 - share, random.uniform(0, 1 - share))[int(random.integers(3))]
        low, high = np.quantile(plain[place], [begin, min(begin + share, 1.0)])
        below = plain[place] < high if begin + share < 1 else np.True_
        return place, (plain[place] >= low) & below
    place = numbers + int(random.integers(len(plain) - numbers))
    return place, plain[place] == random.integers(plain[place].max() + 1)


def clean_table(seed: int, *, heavy: bool, base: float = 0.08, rows: int = 20_000) -> tuple[pa.Table, Figures]:
    """Return a table in which nothing is worse: mistakes at random, or losses at random with a very heavy tail."""
    random = np.random.default_rng(50_000 + seed)
    table, _ = columns_of(random, rows, 10, 20)
    if not heavy:
        return table, (random.random(rows) < base).astype(np.float64)
    losses = random.pareto(1.1, rows) if seed % 4 < 2 else random.lognormal(0, 2, rows)
    return table, losses


def found_planted(planted: tuple[Mask, ...], reported: list[Mask]) -> tuple[int, int]:
    """Return how many planted slices were found (Jaccard 0.5), and how many reports lie outside them all."""
    found = sum(any((one & two).sum() >= 0.5 * (one | two).sum() for two in reported) for one in planted)
    off = sum(all((one & two).sum() < 0.5 * two.sum() for one in planted) for two in reported)
    return int(found), int(off)
