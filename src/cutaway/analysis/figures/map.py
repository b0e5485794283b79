"""The population map as a figure: which samples are drawn and what is said about them. `point_map` draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.figures.figure import Figure
from cutaway.analysis.figures.map_values import Classes, Ramp, Sizes, class_names, colours_of, sizes_of
from cutaway.analysis.figures.packing import is_number
from cutaway.analysis.figures.palettes import NO_VALUE, OTHER
from cutaway.analysis.figures.pictures import choose_previews
from cutaway.analysis.figures.point_map import PointMap
from cutaway.analysis.figures.words import number
from cutaway.analysis.samples import CORRECT, LABEL, LOSS, PREDICTION, SAMPLE
from cutaway.analysis.samples.samples import column_of
from cutaway.arrays import Array, BoolArray, Float32Array, IndexArray, Int64Array
from cutaway.class_colours import CLASS_COLOURS
from cutaway.errors import ConfigurationError
from cutaway.wording import counted

__all__ = ["map_figure"]

MOST_POINTS = 200_000
SEED = 0


def map_figure(
    positions: Array,
    table: pa.Table,
    *,
    color: str | None = None,
    size: str | None = None,
    hover: Sequence[str] = (),
    previews: Mapping[str, bytes] | None = None,
    title: str = "",
    selected: Sequence[str] | None = None,
    classes: Sequence[str] = (),
) -> Figure:
    """Return the samples of `table` as points at `positions`, two numbers for each row.

    Points are coloured by the column `color` (unless it is named: by `label`) and as large as `size` says (unless it
    is named: `loss`). Texts, yes and no, and few whole numbers are colours by name, of more than twenty the most
    frequent and the rest as other; numbers are a scale that ends at the outermost hundredths. Labels and predictions
    have the colours of `classes`, in their order. Samples that are misclassified, where
    `correct` is no, have a ring. The page shows for the point under the pointer its id, label, prediction, loss and
    the columns of `hover`, and its picture out of `previews`, PNG by the id of the sample. Samples other than those
    of `selected`, ids, are dimmed. A sample without a position is left out and counted in the caption; above 200,000,
    a random part is drawn, always the same.
    """
    places = _positions(positions, table)
    shown = [name for name in (SAMPLE, LABEL, PREDICTION, CORRECT, LOSS) if name in table.column_names]
    for name in (*hover, *((color,) if color else ()), *((size,) if size else ())):
        column_of(table, name)
        shown += [] if name in shown else [name]
    rows, notes = _drawn_rows(places, table, selected)
    part, places = table.select(shown).take(pa.array(rows)), places[rows]
    color = color or (LABEL if _has(part, LABEL) else None)
    size = size or (LOSS if _has(part, LOSS) and is_number(part[LOSS]) else None)
    colours = colours_of(color, part[color], classes if color in {LABEL, PREDICTION} else ()) if color else None
    order = _drawing_order(part, colours)
    part, places = part.take(pa.array(order)), places[order]
    colours = replace(colours, codes=colours.codes[order]) if colours else None
    sizes = _sizes(size, part) if size else None
    wrong = _wrong(part)
    ids = _ids(part)
    chosen = None if selected is None else np.isin(np.array(ids, object), list(selected))
    importance = (0 if chosen is None else 4.0 * chosen) + 2.0 * wrong + (0 if sizes is None else sizes.scale / 255)
    kept = choose_previews(ids, previews, np.broadcast_to(importance, len(ids)))
    names = class_names(colours, places) if colours else ()
    content = PointMap(places, tuple(ids), part, colours, sizes, wrong, chosen, names, kept)
    return Figure(title, _caption(content, notes, selected), content)


def _positions(positions: Array, table: pa.Table) -> Float32Array:
    places = np.asarray(positions)
    if places.shape != (table.num_rows, 2) or places.dtype.kind not in "biuf":
        raise ConfigurationError(
            f"`positions` must be two numbers for each of {table.num_rows} samples, "
            f"but got {places.dtype} of shape {places.shape}."
        )
    if SAMPLE not in table.column_names:
        raise ConfigurationError(f"`table` must have a column {SAMPLE!r}, but has {', '.join(table.column_names)}.")
    return places.astype(np.float32)


def _has(table: pa.Table, name: str) -> bool:
    return name in table.column_names and table[name].null_count < table.num_rows


def _drawn_rows(places: Float32Array, table: pa.Table, selected: Sequence[str] | None) -> tuple[Int64Array, list[str]]:
    """Return the rows to draw, in random order, and what is to be said of the others."""
    rows = np.flatnonzero(np.isfinite(places).all(axis=1))
    notes = []
    if len(rows) < len(places):
        notes.append(f"{counted(len(places) - len(rows), 'sample')} without a position left out.")
    generator = np.random.default_rng(SEED)
    # In random order, so that no class lies on top of the others because its samples come last.
    rows = generator.permutation(rows)
    if len(rows) > MOST_POINTS:
        notes.append(f"{MOST_POINTS:,} of {counted(len(rows), 'sample')} drawn, chosen at random (seed {SEED}).")
        wanted = np.isin(np.array(_ids(table), object)[rows], list(selected or ()))
        rows = rows[np.argsort(~wanted, kind="stable")][:MOST_POINTS]
    return rows, notes


def _drawing_order(table: pa.Table, colours: Classes | Ramp | None) -> IndexArray:
    """Return the order of drawing: grey ones lie below those that have a colour, wrong ones lie on top."""
    named = np.ones(table.num_rows, bool) if colours is None else colours.codes != NO_VALUE
    if isinstance(colours, Classes):
        named &= colours.codes != OTHER
    return np.argsort(2 * _wrong(table) + named, kind="stable")


def _wrong(table: pa.Table) -> BoolArray:
    if CORRECT not in table.column_names or not pa.types.is_boolean(table[CORRECT].type):
        return np.zeros(table.num_rows, bool)
    return np.asarray(pc.equal(table[CORRECT], pa.scalar(value=False)).fill_null(False).to_numpy(), bool)  # noqa: FBT003


def _ids(table: pa.Table) -> list[str]:
    return [str(one) for one in table[SAMPLE].to_pylist()]


def _sizes(name: str, table: pa.Table) -> Sizes:
    if not is_number(table[name]):
        raise ConfigurationError(f"Column {name!r} holds {table[name].type}, but a size needs numbers.")
    return sizes_of(name, table[name])


def _caption(content: PointMap, notes: list[str], selected: Sequence[str] | None) -> str:
    said = [f"{counted(len(content.ids), 'sample')}."]
    if content.colours is not None:
        said.append(_colour_words(content.colours))
    if content.sizes is not None:
        low, high = number(content.sizes.low), number(content.sizes.high)
        said.append(f"Size: {content.sizes.column}, from {low} to {high} or more.")
    if content.wrong.any():
        said.append(f"A ring marks {counted(int(content.wrong.sum()), 'sample')} that the model reads wrongly.")
    if content.selected is not None:
        said.append(
            f"{int(content.selected.sum()):,} of {counted(len(selected or ()), 'selected sample')} in full colour."
        )
    return " ".join(one for one in (*said, *notes, content.previews.said()) if one)


def _colour_words(colours: Classes | Ramp) -> str:
    missing = f", {counted(colours.none_count, 'sample')} without a value in grey" if colours.none_count else ""
    if isinstance(colours, Ramp):
        return f"Colour: {colours.column}, from {number(colours.low)} to {number(colours.high)}{missing}."
    rest = f", and {colours.others:,} more in one colour" if colours.others else ""
    shown = sum(count > 0 for count in colours.counts)
    marks = ", dots and triangles" if len(colours.names) > len(CLASS_COLOURS) else ""
    return f"Colour: {colours.column}, {counted(shown, 'value')}{marks}{rest}{missing}."
