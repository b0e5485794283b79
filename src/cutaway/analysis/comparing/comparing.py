"""Compares two models on the same samples: overall, sample by sample, slice by slice, and on the map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.comparing.comparison import Comparison, Difference
from cutaway.analysis.comparing.differences import accuracy_difference, loss_difference, slice_table, tested_table
from cutaway.analysis.comparing.flips import flip_table, loss_change_table
from cutaway.analysis.comparing.joining import ANALYSIS, Joined, join
from cutaway.analysis.comparing.outcomes import Outcomes, lacking, outcomes_of
from cutaway.analysis.comparing.paired import adjusted
from cutaway.analysis.comparing.slicing import RANGES, conditions
from cutaway.analysis.libraries import library
from cutaway.analysis.samples import LABEL, SUBSET, Samples
from cutaway.analysis.samples.held_out import counted_subsets, left_out_subsets, rows_of_subsets
from cutaway.arrays import Array, BoolArray, Float64Array, IndexArray
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.wording import chance_words, counted

__all__ = ["compare_samples"]

# A slice has at least so many samples, whatever its share.
FEWEST = 20
# So many slices and regions are told in words.
MOST_TOLD = 5
# The map is halved so many times, across its longer side, into cells of as many samples each.
HALVINGS = 6
FEWEST_IN_CELL = 20
_TYPES = {
    "flip": pa.string(), "x": pa.float64(), "y": pa.float64(), "width": pa.float64(), "height": pa.float64(),
    "count": pa.int64(), "flips": pa.int64(), "expected": pa.float64(), "p": pa.float64(),
}  # fmt: skip


def compare_samples(
    first: Samples,
    second: Samples,
    *,
    positions: Array | None = None,
    names: tuple[str, str] = ("before", "after"),
    subsets: Sequence[str] | None = None,
    min_share: float = 0.005,
) -> Comparison:
    """Return what became better and worse from the first model to the second, on the samples that both have seen.

    Samples are joined by id; where both know the content, samples of other content are left out. `subsets` are those
    of the second that are compared, together; by default the held-out ones, and training only where nothing else has
    an outcome. Both models are judged by the labels of the second. `positions` is a place on a map (x, y) for each
    sample of `first`. Slices are one condition each: a class, a value or a range of numbers of any column of the
    second that is no answer of a model, with at least `min_share` of the samples. Each is tested by its flips alone
    (McNemar, exact), and all together after Benjamini and Hochberg. Where samples have no classes, losses are compared
    instead, by ranks.
    """
    if not 0 <= min_share < 1:
        raise ConfigurationError(f"`0 <= min_share < 1` must hold, but got min_share={min_share}.")
    whole = join(first, second, names)
    everywhere = outcomes_of(first, second, whole)
    belongs = second.column(SUBSET).take(pa.array(whole.second))
    compared = counted_subsets(belongs, everywhere.known, subsets)
    chosen = rows_of_subsets(belongs, compared)
    joined, outcomes = whole.take(chosen), everywhere.take(chosen)
    everything = np.ones(len(joined), np.bool_)
    accuracy, loss = accuracy_difference(outcomes, everything), loss_difference(outcomes, everything)
    if accuracy is None and loss is None:
        raise AnalysisUnavailable(
            ANALYSIS,
            f"none of {len(joined):,} samples has a class and a label, or a finite loss, with both models.",
            hint="Evaluate both with a loss.",
        )
    notes = [*joined.notes, *left_out_subsets(belongs, chosen), *lacking(outcomes, names), *_why_no_flips(accuracy)]
    places = _places(positions, len(first), joined)
    fewest = max(FEWEST, int(np.ceil(min_share * len(joined))))
    slices = slice_table(outcomes, conditions(_sliced(second, joined), fewest), by_flips=accuracy is not None)
    if accuracy is None:
        ranked, regions = loss_change_table(second, joined, outcomes, places), None
    else:
        ranked = flip_table(second, joined, outcomes, places, names)
        flips = {"worse": outcomes.worse, "better": outcomes.better}
        regions = None if places is None else _region_table(places, outcomes.answered, flips)
    notes += ranked.notes
    if any(one == "cluster" for one in slices["column"].to_pylist()):
        notes.append(
            "Clusters come from one model's latent space, where its own mistakes lie elsewhere: they favour the other."
        )
    words = _words(names, compared, outcomes, (accuracy, loss), slices, regions)
    words += _by_subset(names, compared, belongs, everywhere)
    counts = None if accuracy is None else _counts(outcomes)
    return Comparison(
        names, len(joined), counts, accuracy, loss, ranked.table, slices, regions, compared, tuple(notes), words
    )


def _by_subset(
    names: tuple[str, str], compared: Sequence[str], belongs: pa.ChunkedArray, outcomes: Outcomes
) -> tuple[str, ...]:
    """Return a line for each subset by itself that is not what is compared already."""
    present = belongs.cast(pa.string()).drop_null().unique().to_pylist()
    found = []
    for name in (one for one in present if (one,) != tuple(compared)):
        rows = rows_of_subsets(belongs, [name])
        accuracy = accuracy_difference(outcomes, rows)
        one = accuracy or loss_difference(outcomes, rows)
        if one is not None:
            found.append(_line("mean loss" if accuracy is None else "accuracy", f"{name} alone", names, one))
    return tuple(found)


def _line(what: str, where: str, names: tuple[str, str], one: Difference) -> str:
    return (
        f"{what} on {where} {one.before:.4f} {names[0]}, {one.after:.4f} {names[1]}: {one.change:+.4f} "
        f"[{one.low:+.4f}, {one.high:+.4f}], {chance_words(one.p)}"
    )


def _why_no_flips(accuracy: Difference | None) -> list[str]:
    if accuracy is not None:
        return []
    return ["No flips: they need a label and one predicted class for each sample. Losses are compared instead."]


def _sliced(second: Samples, joined: Joined) -> pa.Table:
    """Return the columns that slices are made of, with the labels that both models are judged by."""
    table = second.table.take(pa.array(joined.second))
    if LABEL in table.column_names:
        table = table.set_column(table.column_names.index(LABEL), LABEL, pa.array(joined.labels, pa.string()))
    return table


def _places(positions: Array | None, rows: int, joined: Joined) -> Float64Array | None:
    if positions is None:
        return None
    given = np.asarray(positions)
    if given.shape != (rows, 2) or given.dtype.kind not in "iuf":
        raise ConfigurationError(
            f"`positions` must be x and y for each of {rows} samples of the first, but got shape {given.shape}."
        )
    return np.asarray(given[joined.first], np.float64)


def _counts(outcomes: Outcomes) -> dict[str, int]:
    was, now = outcomes.right
    wrong = outcomes.answered & ~was & ~now
    return {
        "both right": int((outcomes.answered & was & now).sum()),
        "worse": int(outcomes.worse.sum()),
        "better": int(outcomes.better.sum()),
        "both wrong": int(wrong.sum()),
        "changed": int((wrong & (outcomes.predictions[0] != outcomes.predictions[1])).sum()),
    }


def _words(  # noqa: PLR0917  each is one part of what is said
    names: tuple[str, str],
    compared: Sequence[str],
    outcomes: Outcomes,
    overall: Sequence[Difference | None],
    slices: pa.Table,
    regions: pa.Table | None,
) -> tuple[str, ...]:
    where = " and ".join(compared)
    pairs = zip(("accuracy", "mean loss"), overall, strict=True)
    said = [_line(what, where, names, one) for what, one in pairs if one is not None]
    if overall[0] is not None:
        worse, better = int(outcomes.worse.sum()), int(outcomes.better.sum())
        said.append(f"{worse:,} samples got worse, {better:,} better")
    told = [row for row in slices.to_pylist() if row["found"]]
    said += [_slice_words(row) for row in _best_of_each_column(told)[:MOST_TOLD]]
    if not told:
        said.append(f"no slice of {slices.num_rows:,} changed more than by chance")
    if regions is not None:
        found = [row for row in regions.to_pylist() if row["found"]][:MOST_TOLD]
        said += [
            f"{row['flips']:,} of {row['count']:,} samples around ({row['x']:.3g}, {row['y']:.3g}) on the map got "
            f"{row['flip']}; chance would give {row['expected']:.1f}"
            for row in found
        ]
    return tuple(said)


def _best_of_each_column(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the surest slice of each column of numbers, and every value of the others."""
    seen: set[str] = set()
    kept = []
    for row in rows:
        ranged = any(f"{row['column']} {one} " in row["slice"] for one in RANGES)
        if not (ranged and row["column"] in seen):
            kept.append(row)
        seen.add(row["column"])
    return kept


def _slice_words(row: dict[str, Any]) -> str:
    figures = f"{row['before']:.4f} to {row['after']:.4f}: {row['change']:+.4f} [{row['low']:+.4f}, {row['high']:+.4f}]"
    flips = "" if row["worse"] is None else f", {row['worse']:,} worse and {row['better']:,} better"
    samples, p = counted(row["count"], "sample"), chance_words(row["p_adjusted"])
    return f"where {row['slice']} ({samples}): {figures}{flips}, {p}"


def _region_table(places: Float64Array, answered: BoolArray, flips: dict[str, BoolArray]) -> pa.Table:
    """Return the cells of the map in which more samples flipped than overall, for each kind of flip.

    Samples that one of the models has no answer to cannot flip, and are in no cell.

    Cells of several sizes lie in each other; of those that share samples the surest is kept.
    """
    hypergeom = library("scipy.stats", "Regions of a map").hypergeom
    known = np.asarray(np.isfinite(places).all(axis=1) & answered)
    rows = []
    for cell in _cells(places, np.flatnonzero(known), HALVINGS):
        for kind, mask in flips.items():
            total, inside = int((mask & known).sum()), int(mask[cell].sum())
            p = float(hypergeom.sf(inside - 1, int(known.sum()), total, len(cell))) if inside else 1.0
            rows.append((cell, _row(places[cell], kind, inside, total / known.sum() * len(cell), p)))
    ps = adjusted([row["p"] for _, row in rows])
    kept: list[int] = []
    taken = {kind: np.zeros(len(places), np.bool_) for kind in flips}
    for place in np.argsort([row["p"] for _, row in rows], kind="stable").tolist():
        cell, row = rows[place]
        if row["flips"] > row["expected"] and not taken[row["flip"]][cell].any():
            taken[row["flip"]][cell] = True
            kept.append(place)
    return tested_table([rows[place][1] for place in kept], ps[kept] if kept else np.zeros(0), _TYPES)


def _cells(places: Float64Array, rows: IndexArray, halvings: int) -> Iterator[IndexArray]:
    if not halvings or len(rows) < 2 * FEWEST_IN_CELL:
        return
    spread = np.ptp(places[rows], axis=0)
    order = rows[np.argsort(places[rows, int(np.argmax(spread))], kind="stable")]
    for half in (order[: len(order) // 2], order[len(order) // 2 :]):
        yield half
        yield from _cells(places, half, halvings - 1)


def _row(places: Float64Array, kind: str, flips: int, expected: float, p: float) -> dict[str, Any]:
    low, high = places.min(axis=0), places.max(axis=0)
    middle, size = (low + high) / 2, high - low
    return {
        "flip": kind, "x": float(middle[0]), "y": float(middle[1]), "width": float(size[0]), "height": float(size[1]),
        "count": len(places), "flips": flips, "expected": float(expected), "p": p,
    }  # fmt: skip
