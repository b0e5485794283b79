"""Grids of samples as figures: similar and ranked ones, what drives each unit, and heat maps beside their sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from cutaway.analysis.figures.figure import Figure
from cutaway.analysis.figures.pictures import extent_of
from cutaway.analysis.figures.tiles import Group, Mark, Tile, Tiles
from cutaway.analysis.figures.words import number, said, sentence
from cutaway.analysis.samples import CORRECT, LABEL, PREDICTION, SAMPLE
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.wording import counted

__all__ = ["heat_map_figure", "ranked_figure", "similar_figure", "units_figure"]

# A page of more pictures is scrolled, not read.
MOST_TILES, MOST_UNITS = 100, 40
MOST_RANKED, MOST_PAIRS = 60, 30


def similar_figure(
    queries: pa.Table, similar: pa.Table, previews: Mapping[str, bytes], *, title: str = "", words: str = ""
) -> Figure:
    """Return samples and those that are similar to them, as pictures with label, prediction and distance.

    `queries` and `similar` have a row for each sample: `sample`, and where they are known `label`, `prediction`,
    `correct`; `similar` also `distance`, and is drawn in its order. `previews` are PNG by the id of the sample.
    """
    for name, table in (("queries", queries), ("similar", similar)):
        if SAMPLE not in table.column_names:
            raise ConfigurationError(
                f"`{name}` must have a column {SAMPLE!r}, but has {', '.join(table.column_names)}."
            )
    asked = [_sample_tile(row, previews, "first") for row in queries.slice(0, MOST_TILES).to_pylist()]
    found = [_sample_tile(row, previews) for row in similar.slice(0, MOST_TILES).to_pylist()]
    groups = (Group(tuple(asked), "Asked for"), Group(tuple(found), "Most similar first"))
    shown = f"{counted(len(found), 'sample')} most similar to {counted(queries.num_rows, 'sample')}."
    counts = _labels_in_words(similar)
    wrong = " A dashed frame: the model reads it wrongly." if any(one.mark == "wrong" for one in found) else ""
    cut = f" {MOST_TILES} of {similar.num_rows:,} are shown." if similar.num_rows > MOST_TILES else ""
    content = Tiles(groups)
    return Figure(title, f"{shown}{counts}{wrong}{cut} {sentence(words)}".strip(), content, height=content.height)


def _labels_in_words(table: pa.Table) -> str:
    if LABEL not in table.column_names or table[LABEL].null_count == table.num_rows:
        return ""
    counts: dict[str, int] = {}
    for one in table[LABEL].to_pylist():
        counts[said(one)] = counts.get(said(one), 0) + 1
    most = sorted(counts, key=lambda one: (-counts[one], one))[:5]
    rest = f", {len(counts) - len(most)} more labels" if len(counts) > len(most) else ""
    return f" Labels: {', '.join(f'{counts[one]} of {one}' for one in most)}{rest}."


def _sample_tile(row: dict[str, Any], previews: Mapping[str, bytes], mark: Mark = "") -> Tile:
    lines = _values(row, LABEL, PREDICTION)
    if row.get("distance") is not None:
        lines.append(f"distance {number(row['distance'])}")
    return _tile(row[SAMPLE], previews, lines, mark or ("wrong" if row.get(CORRECT) is False else ""))


def _tile(sample: object, previews: Mapping[str, bytes], lines: Sequence[str], mark: Mark = "") -> Tile:
    return Tile(previews.get(str(sample)), str(sample), tuple(lines), mark)


def _values(row: dict[str, Any], *names: str) -> list[str]:
    """Return a line for each of these columns that has a value."""
    return [f"{name} {said(row[name])}" for name in names if row.get(name) is not None]


def units_figure(
    drivers: pa.Table,
    previews: Mapping[str, bytes],
    *,
    classes: pa.Table | None = None,
    top: int = 7,
    title: str = "",
    words: str = "",
) -> Figure:
    """Return for each unit the samples that drive it most, as pictures, and the classes that it answers to.

    `drivers` has `unit`, `sample` and `value`, and where it is known `label`, best first in each unit; `classes` has
    `unit`, `class` and `auc`, best first, and `serves` where it is known. The first 40 units of `drivers` are shown:
    filter it to show others.
    """
    missing = {"unit", SAMPLE, "value"} - set(drivers.column_names)
    if missing:
        raise ConfigurationError(f"`drivers` lacks the columns {', '.join(sorted(missing))}.")
    if not drivers.num_rows:
        raise AnalysisUnavailable("feature view", "no unit has a sample that drives it.")
    by_unit: dict[Any, list[dict[str, Any]]] = {}
    for row in drivers.to_pylist():
        by_unit.setdefault(row["unit"], []).append(row)
    answers = _answers(classes)
    groups = []
    for unit in list(by_unit)[:MOST_UNITS]:
        tiles = tuple(_driver_tile(row, previews) for row in by_unit[unit][:top])
        groups.append(Group(tiles, f"Unit {said(unit)}", answers.get(unit, "")))
    content = Tiles(tuple(groups), columns=max(6, min(top, 10)))
    shown = f"The samples with the highest values of {counted(len(groups), 'unit')}, highest first."
    if len(by_unit) > MOST_UNITS:
        shown += f" {MOST_UNITS} of {len(by_unit):,} units are shown."
    return Figure(title, f"{shown} {sentence(words)}".strip(), content, height=content.height)


def _driver_tile(row: dict[str, Any], previews: Mapping[str, bytes]) -> Tile:
    return _tile(row[SAMPLE], previews, [*_values(row, LABEL), f"value {number(row['value'])}"])


def _answers(classes: pa.Table | None) -> dict[Any, str]:
    """Return for each unit in words which classes it answers to."""
    found: dict[Any, list[str]] = {}
    for row in [] if classes is None else classes.to_pylist():
        serves = "serves " if row.get("serves") else "answers to "
        if len(found.setdefault(row["unit"], [])) < 3 and row.get("auc") is not None:
            found[row["unit"]].append(f"{serves}{said(row['class'])} (AUC {row['auc']:.2f})")
    return {unit: ", ".join(parts) for unit, parts in found.items()}


def heat_map_figure(sample: Tile, maps: Sequence[Tile], *, title: str = "") -> Figure:
    """Return the picture of a sample, then its heat maps, with what is to be said of each below it.

    A `Tile` has a picture (PNG, or an array of rows, columns and channels), a title such as the class and the method,
    and lines such as what the sanity figures say. A map that is no better than a random one has `mark="wrong"`.
    """
    group = Group((Tile(sample.picture, sample.title, sample.lines, "first"), *maps[: MOST_TILES - 1]))
    # Texts and series are drawn broad, and cannot be read when they are small.
    broad = any(wide >= 1.4 * high > 0 for wide, high in (extent_of(one.picture) for one in maps))
    content = Tiles((group,), columns=2 if broad else max(4, min(len(group.tiles), 7)))
    shown = f"{counted(len(maps), 'heat map')} of 1 sample."
    if any(one.mark == "wrong" for one in maps):
        shown += " A dashed frame: no better than a random map."
    return Figure(title, shown, content, height=content.height)


def ranked_figure(table: pa.Table, previews: Mapping[str, bytes], *, title: str = "", words: str = "") -> Figure:
    """Return ranked samples as pictures, the highest score first; where `other` names another sample, side by side.

    `table` begins with `sample`, `score` and `reason`. `previews` are PNG by the id of the sample.
    """
    if table.column_names[:3] != [SAMPLE, "score", "reason"]:
        raise ConfigurationError(f"A ranked table begins with sample, score, reason, but has {table.column_names[:3]}.")
    if not table.num_rows:
        raise AnalysisUnavailable("figure", "nothing was found that could be shown.")
    pairs = "other" in table.column_names
    most = MOST_PAIRS if pairs else MOST_RANKED
    rows = table.slice(0, most).to_pylist()
    if pairs:
        groups = [Group((_ranked_tile(row, previews), _other_tile(row, previews)), words=_why(row)) for row in rows]
        content = Tiles(tuple(groups), columns=4)
    else:
        content = Tiles((Group(tuple(_ranked_tile(row, previews) for row in rows), "Highest score first"),))
    cut = f" {most} of {table.num_rows:,} are shown." if table.num_rows > most else ""
    shown = f"{counted(table.num_rows, 'sample')}.{cut} {sentence(words)}"
    return Figure(title, shown.strip(), content, height=content.height)


def _ranked_tile(row: dict[str, Any], previews: Mapping[str, bytes]) -> Tile:
    lines = [f"score {row['score']:.2f}" if row["score"] is not None else "no score"]
    lines += _values(row, LABEL, "suggested", PREDICTION, "between", "kind")
    return _tile(row[SAMPLE], previews, lines)


def _why(row: dict[str, Any]) -> str:
    return f"Score {row['score']:.2f}: {said(row['reason'])}" if row["score"] is not None else said(row["reason"])


def _other_tile(row: dict[str, Any], previews: Mapping[str, bytes]) -> Tile:
    label = [f"label {said(row['other_label'])}"] if row.get("other_label") is not None else []
    return _tile(row["other"], previews, label, "first")
