"""Two runs on the same samples: what a comparison that was kept says, and where its flips lie on one map.

Compares nothing itself: a job does that, and keeps what it found as tables of the evaluation that it begins at, under
the kind `compare_<digest>`, where the digest names what it was compared with: the other run, its evaluation, and what
made that one. So a newer evaluation of the other run is another comparison.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.comparing.comparison import Comparison, Difference
from cutaway.analysis.samples import LABEL, LOSS, PREDICTION, SUBSET
from cutaway.arrays import Float32Array
from cutaway.run.analyses import AnalysisName, KeptTable, read_table, scope_of, write_table
from cutaway.run.command_words import evaluation_words, run_word
from cutaway.run.evaluations import Evaluation
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.populations import Loaded
from cutaway.studio.previews import SamplePreviews
from cutaway.studio.wire.runs import DifferenceRow, FlipRow, FlipsAnswer, RegionRow, SliceRow

__all__ = ["FLIPS", "flip_table", "flips_answer", "keep_comparison", "kept_comparison"]

MOST_FLIPS = 500
MOST_SLICES = 200
# Counted up when a comparison says something else than before, so that what was kept is made anew.
VERSION = 2
FLIPS = ("both right", "better", "worse", "both wrong", "not compared")
"""What became of a sample, in the order of the codes of `flip`."""
_Row = TypeVar("_Row", SliceRow, RegionRow)
_BOTH_RIGHT, _BETTER, _WORSE, _BOTH_WRONG, _NOT_COMPARED = range(len(FLIPS))


def flips_answer(before: Loaded, after: Loaded, names: tuple[str, str], previews: SamplePreviews) -> FlipsAnswer:
    """Return what a comparison that was kept says; refused, with what makes it, where none was."""
    try:
        return _answer(_kept_or_refused(before, after), before, after, names, previews)
    except (KeyError, TypeError, ValueError) as error:
        # Somebody else's file: made anew, it is as we write it.
        raise _unavailable(before, after) from error


def _answer(
    found: Comparison, before: Loaded, after: Loaded, names: tuple[str, str], previews: SamplePreviews
) -> FlipsAnswer:
    shown = found.table.slice(0, MOST_FLIPS).to_pylist()
    ids = [str(one["sample"]) for one in shown]
    rows, drawn = before.rows_of(ids), previews.known(before.run, set(ids))
    flips = [
        FlipRow(
            sample=one["sample"],
            row=rows[one["sample"]],
            flip=one.get("flip") or ("worse" if (one.get("loss_change") or 0) > 0 else "better"),
            score=one["score"],
            reason=one["reason"],
            label=one.get("label"),
            before=one.get("before"),
            after=one.get("after"),
            loss_change=one.get("loss_change"),
            preview=one["sample"] in drawn,
        )
        for one in shown
        if one["sample"] in rows
    ]
    return FlipsAnswer(
        before=names[0],
        after=names[1],
        evaluation_before=before.number,
        evaluation_after=after.number,
        count=found.count,
        subsets=list(found.subsets),
        counts=None if found.counts is None else dict(found.counts),
        accuracy=_difference(found.accuracy),
        loss=_difference(found.loss),
        flips=flips,
        total=found.table.num_rows,
        slices=_rows_as(SliceRow, found.slices.slice(0, MOST_SLICES)),
        regions=None if found.regions is None else _rows_as(RegionRow, found.regions),
        words=list(found.words),
        notes=list(found.notes),
    )


def flip_table(before: Loaded, after: Loaded) -> pa.Table:
    """Return every sample of the first in the order of its points: row, x, y, flip and how much its loss grew.

    Without a map x and y are missing: the flips can be listed all the same.
    """
    found, order = _kept_or_refused(before, after), before.order
    try:
        codes = _codes(before, after, found)[order]
    except (KeyError, TypeError, ValueError, pa.ArrowException) as error:
        raise _unavailable(before, after) from error
    change = _loss_change(before, after)[order]
    columns = {
        "row": pa.array(order),
        "flip": pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(FLIPS)),
        "loss_change": pa.array(change),
    }
    placed = before.map()
    if placed is not None:
        x, y = (np.ascontiguousarray(axis[order]) for axis in placed.positions.T)
        columns |= {"x": pa.array(x), "y": pa.array(y)}
    return pa.table(columns)


def _kept_or_refused(before: Loaded, after: Loaded) -> Comparison:
    found = kept_comparison(before.evaluation, after.evaluation)
    if found is None or not _is_ranked(found.table):
        raise _unavailable(before, after)
    return found


def _is_ranked(table: pa.Table) -> bool:
    texts = [name for name in ("sample", "reason", "flip") if name in table.column_names]
    return table.column_names[:3] == ["sample", "score", "reason"] and all(
        pa.types.is_string(table[name].type) for name in texts
    )


def _unavailable(before: Loaded, after: Loaded) -> Refusal:
    said = f"{before.run.name!r} and {after.run.name!r} were not compared sample by sample yet."
    asked = evaluation_words(before.evaluation, relative=True)
    command = f"cutaway analyze {asked} compare --with {run_word(after.run.path, relative=True)}"
    hint = f"Start it from the page, which keeps what is found; in a terminal `{command}`."
    return Refusal(404, "comparison-unavailable", said, hint)


def _codes(before: Loaded, after: Loaded, found: Comparison) -> npt.NDArray[np.int8]:
    """Return what became of each sample, as many of each kind as the comparison counted.

    Both models are judged by the label of the second, so what the second got of a sample that did not flip is what the
    first got too.
    """
    there = pc.index_in(before.ids, value_set=after.ids)
    compared = np.asarray(pc.is_in(after.column(SUBSET).take(there), value_set=pa.array(found.subsets, pa.string())))
    compared &= ~_differs(before, after, there)
    codes = np.full(len(before), _BOTH_RIGHT, np.int8)
    if found.counts is not None:
        label = pc.coalesce(_texts(after, LABEL).take(there), _texts(before, LABEL))
        right = pc.equal(label, _texts(after, PREDICTION).take(there))
        compared &= np.asarray(pc.and_(pc.is_valid(right), pc.is_valid(_texts(before, PREDICTION))))
        codes[~np.asarray(right.fill_null(False), np.bool_)] = _BOTH_WRONG  # noqa: FBT003 - pyarrow takes no keyword
    codes[~compared] = _NOT_COMPARED
    if "flip" in found.table.column_names:
        for word, code in (("better", _BETTER), ("worse", _WORSE)):
            flipped = found.table.filter(pc.equal(found.table["flip"], word))["sample"]
            codes[np.asarray(pc.is_in(before.ids, value_set=flipped.combine_chunks()))] = code
    return codes


def _texts(loaded: Loaded, name: str) -> pa.ChunkedArray:
    """Return a column as texts, null where there is none."""
    there = name in loaded.column_names
    return loaded.column(name).cast(pa.string()) if there else pa.chunked_array([pa.nulls(len(loaded), pa.string())])


def _differs(before: Loaded, after: Loaded, there: pa.Array) -> npt.NDArray[np.bool_]:
    """Return which samples have another content in the second evaluation, as far as both know it."""
    hashes = [one.population.hashes() for one in (before, after)]
    if hashes[0] is None or hashes[1] is None:
        return np.zeros(len(before), np.bool_)
    first, second = pa.array(hashes[0], pa.string()), pa.array(hashes[1], pa.string()).take(there)
    return np.asarray(pc.fill_null(pc.not_equal(first, second), False), np.bool_)  # noqa: FBT003 - pyarrow takes no keyword


def _loss_change(before: Loaded, after: Loaded) -> Float32Array:
    if LOSS not in before.column_names or LOSS not in after.column_names:
        return np.full(len(before), np.nan, np.float32)
    there = pc.index_in(before.ids, value_set=after.ids)
    losses = after.column(LOSS).take(there)
    sides = (one.cast(pa.float64()).fill_null(np.nan).to_numpy() for one in (losses, before.column(LOSS)))
    grown, held = sides
    return np.asarray(grown - held, np.float32)


def _difference(found: Difference | None) -> DifferenceRow | None:
    return None if found is None else DifferenceRow(**vars(found))


def _rows_as(kind: type[_Row], table: pa.Table) -> list[_Row]:
    return [kind(**{name: one[name] for name in kind.model_fields}) for one in table.to_pylist()]


def keep_comparison(before: Evaluation, after: Evaluation, found: Comparison) -> None:
    """Keep what was found from one evaluation to another, beside the first."""
    kind, key = _kind(before, after)
    tables = {"slices": found.slices} | ({} if found.regions is None else {"regions": found.regions})
    for name, table in tables.items():
        write_table(before, _name(before, f"{kind}_{name}"), table, {"key": key})
    about = {
        "key": key,
        "count": found.count,
        "subsets": list(found.subsets),
        "counts": None if found.counts is None else dict(found.counts),
        "accuracy": None if found.accuracy is None else asdict(found.accuracy),
        "loss": None if found.loss is None else asdict(found.loss),
        "notes": list(found.notes),
        "words": list(found.words),
        "regions": found.regions is not None,
    }
    # Last, since it says that the others are there.
    write_table(before, _name(before, kind), found.table, about)


def kept_comparison(before: Evaluation, after: Evaluation) -> Comparison | None:
    """Return what was kept of the same two evaluations; None where it has to be made."""
    kind, key = _kind(before, after)
    main = read_table(before, _name(before, kind), key)
    slices = read_table(before, _name(before, f"{kind}_slices"), key)
    if main is None or slices is None:
        return None
    regions = read_table(before, _name(before, f"{kind}_regions"), key) if main.about.get("regions") else None
    try:
        return _comparison(main, slices.table, None if regions is None else regions.table)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # not as we write it: made anew


def _comparison(main: KeptTable, slices: pa.Table, regions: pa.Table | None) -> Comparison:
    about = main.about
    counts: Mapping[str, Any] | None = about["counts"]
    return Comparison(
        names=("before", "after"),
        count=int(about["count"]),
        counts=None if counts is None else {str(name): int(count) for name, count in counts.items()},
        accuracy=_kept_difference(about["accuracy"]),
        loss=_kept_difference(about["loss"]),
        table=main.table,
        slices=slices,
        regions=regions,
        subsets=tuple(map(str, about["subsets"])),
        notes=tuple(map(str, about["notes"])),
        words=tuple(map(str, about["words"])),
    )


def _kept_difference(told: Mapping[str, Any] | None) -> Difference | None:
    return None if told is None else Difference(**{name: float(value) for name, value in told.items()})


def _kind(before: Evaluation, after: Evaluation) -> tuple[str, str]:
    """Return the kind of the tables, and the key of what they were made from."""
    sides = [(one.run.id, one.number, one.source.key, one.source.time) for one in (before, after)]
    digest = hashlib.sha256(json.dumps([VERSION, sides[1][:2]]).encode()).hexdigest()
    return f"compare_{digest[:16]}", hashlib.sha256(json.dumps([VERSION, sides], default=str).encode()).hexdigest()


def _name(evaluation: Evaluation, kind: str) -> AnalysisName:
    return AnalysisName(scope_of(evaluation, evaluation.subsets), kind)
