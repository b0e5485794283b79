"""What a map shows of a table: colours, sizes and names of samples, in the order of drawing. Draws nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cutaway.analysis.figures.packing import is_number, texts
from cutaway.analysis.figures.palettes import NO_VALUE, OTHER
from cutaway.analysis.figures.words import natural_order
from cutaway.analysis.samples.samples import doubles_of
from cutaway.arrays import Float32Array, Float64Array, UInt8Array
from cutaway.class_colours import MARKED_CLASSES

__all__ = ["Classes", "Name", "Ramp", "Sizes", "class_names", "colours_of", "sizes_of"]

# Whole numbers with more values than these are amounts, not names of classes.
MOST_WHOLE = 20
RAMP_STEPS = 254


@dataclass(frozen=True)
class Classes:
    """Samples coloured by name. `codes` has for each the place of its name in `names`, `OTHER` or `NO_VALUE`.

    A place is that of a colour and a mark. A name of which there are no samples keeps it, so that all figures of a
    population show a class alike.
    """

    column: str
    codes: UInt8Array
    names: tuple[str, ...]
    counts: tuple[int, ...]
    others: int
    other_count: int
    none_count: int

    def entries(self) -> list[tuple[int, str, int]]:
        """Return what a legend lists: code, name and count of each class, of the others, and of those without any."""
        found = [(code, name, self.counts[code]) for code, name in enumerate(self.names) if self.counts[code]]
        if self.others:
            found.append((OTHER, f"{self.others:,} more", self.other_count))
        if self.none_count:
            found.append((NO_VALUE, "no value", self.none_count))
        return found


@dataclass(frozen=True)
class Ramp:
    """Samples coloured by amount: `codes` from 0 at `low` to 254 at `high`, `NO_VALUE` where there is none."""

    column: str
    codes: UInt8Array
    low: float
    high: float
    none_count: int


@dataclass(frozen=True)
class Sizes:
    """How large each sample is drawn, from 0 to 255; the largest stands for `high` or more."""

    column: str
    scale: UInt8Array
    low: float
    high: float


@dataclass(frozen=True)
class Name:
    """The name of a class, to be written where the middle of its samples lies."""

    text: str
    x: float
    y: float


def colours_of(name: str, column: pa.ChunkedArray, classes: Sequence[str] = ()) -> Classes | Ramp:
    """Return the colours of a column: by name for texts, yes and no, and few whole numbers; by amount otherwise.

    `classes` are names of the column in an order of their own, that of the colours.
    """
    whole = pa.types.is_integer(column.type)
    if is_number(column) and not (whole and len(column.unique()) <= MOST_WHOLE):
        return _ramp(name, column)
    values = texts(name, column).to_pylist()
    counts: dict[str, int] = {}
    for value in values:
        if value is not None:
            counts[value] = counts.get(value, 0) + 1
    names = _named(counts, ("yes", "no") if pa.types.is_boolean(column.type) else classes)
    places: dict[str | None, int] = {one: place for place, one in enumerate(names)}
    places[None] = NO_VALUE
    codes = np.array([places.get(value, OTHER) for value in values], np.uint8)
    return Classes(
        name,
        codes,
        tuple(names),
        tuple(counts.get(one, 0) for one in names),
        len(counts.keys() - names),
        int((codes == OTHER).sum()),
        int((codes == NO_VALUE).sum()),
    )


def _named(counts: dict[str, int], classes: Sequence[str]) -> list[str]:
    """Return the names that have a colour: all of them in their order, or of too many the most frequent."""
    known = [*classes, *natural_order(counts.keys() - set(classes))]
    if len(known) <= MARKED_CLASSES:
        return known
    present = [one for one in known if one in counts]
    if len(present) <= MARKED_CLASSES:
        return present
    most = set(sorted(counts, key=lambda one: (-counts[one], one))[: MARKED_CLASSES - 1])
    return [one for one in present if one in most]


def _ramp(name: str, column: pa.ChunkedArray) -> Ramp:
    values = doubles_of(column)
    finite = np.isfinite(values)
    # Ends at the outermost hundredths: one far value would leave a single colour for all others.
    low, high = _ends(values[finite])
    span = high - low or 1.0
    codes = np.full(len(values), NO_VALUE, np.uint8)
    codes[finite] = np.rint(np.clip((values[finite] - low) / span, 0, 1) * RAMP_STEPS).astype(np.uint8)
    return Ramp(name, codes, low, high, int((~finite).sum()))


def sizes_of(name: str, column: pa.ChunkedArray) -> Sizes:
    """Return the sizes of a column of numbers; a sample without a value is as small as the smallest."""
    values = doubles_of(column)
    low, high = _ends(values[np.isfinite(values)])
    span = high - low or 1.0
    share = np.clip((np.nan_to_num(values, nan=low, posinf=high, neginf=low) - low) / span, 0, 1)
    # The eye compares areas.
    return Sizes(name, np.rint(np.sqrt(share) * 255).astype(np.uint8), low, high)


def _ends(values: Float64Array) -> tuple[float, float]:
    if not len(values):
        return 0.0, 0.0
    low, high = np.quantile(values, [0.01, 0.99])
    if high <= low:
        low, high = values.min(), values.max()
    if not np.isfinite(high - low) or high <= low:
        return float(low), float(high)
    # Three digits of the span: no legend has room for more.
    digits = 2 - int(np.floor(np.log10(high - low)))
    return round(float(low), digits), round(float(high), digits)


def class_names(colours: Classes | Ramp, positions: Float32Array) -> tuple[Name, ...]:
    """Return where to write the names of classes, largest first: at the sample nearest to the median of its class."""
    if isinstance(colours, Ramp):
        return ()
    found = []
    for place in sorted(range(len(colours.names)), key=lambda one: -colours.counts[one]):
        text = colours.names[place]
        own = positions[colours.codes == place]
        if len(own):
            # A class in two halves has its median between them, where none of its samples is.
            nearest = own[np.abs(own - np.median(own, axis=0)).sum(axis=1).argmin()]
            found.append(Name(text, float(nearest[0]), float(nearest[1])))
    return tuple(found)
