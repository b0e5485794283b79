"""The samples of an evaluation as one table, without latent vectors: whole, or some columns by name.

Reads only what is asked for, so that one column of a million samples costs one column. Refuses what Cutaway did not
write, and joins what did not come out alike: a run may come from anybody, and metadata of two subsets may differ in
type though one encoder gave them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cutaway.errors import EvaluationError
from cutaway.run.evaluated.answer import ModelAnswer
from cutaway.run.evaluated.columns import CORRECT, ERROR, LABEL, LOSS, METADATA, PREDICTION, SAMPLE, SUBSET
from cutaway.run.evaluations import Evaluation
from cutaway.run.sample_columns import is_elements

__all__ = ["as_written", "element_columns", "joined_tables", "sample_columns", "sample_table"]

_KEPT = (METADATA, "metric.", "loss.")


def sample_columns(evaluation: Evaluation, subsets: Sequence[str], answer: ModelAnswer) -> list[str]:
    """Return the names of the columns that `sample_table` gives, without reading them."""
    found: dict[str, None] = {}
    elements = element_columns(evaluation, subsets)
    for subset in subsets:
        found |= dict.fromkeys(_made_from(_plain(evaluation, subset, elements), subset, answer))
    # The same place wherever a column comes from; what failed is told last.
    first = [SAMPLE, SUBSET, LABEL, PREDICTION, CORRECT, LOSS]
    return [*(one for one in first if one in found), *(one for one in found if one not in (*first, ERROR)), ERROR]


def sample_table(
    evaluation: Evaluation, subsets: Sequence[str], answer: ModelAnswer, columns: Collection[str] | None = None
) -> pa.Table:
    """Return the samples of some subsets, one after the other; all columns, or those of `columns` that there are.

    Raises `EvaluationError` where a file is damaged, or not as Cutaway writes it.
    """
    elements = element_columns(evaluation, subsets)
    joined = joined_tables([_table(evaluation, name, answer, columns, elements) for name in subsets])
    if columns is None:
        return joined
    return joined.select([name for name in columns if name in joined.column_names])


def _made_from(names: Sequence[str], subset: str, answer: ModelAnswer) -> dict[str, tuple[str, ...]]:
    """Return the columns of a table by name, each with those of the file that it is made from."""
    missing = {"id", ERROR} - set(names)
    if missing:
        raise EvaluationError(
            f"The table of {subset!r} lacks {' and '.join(sorted(missing))}: Cutaway did not write it.",
            hint="Evaluate again.",
        )
    label, predicted = answer.label_column, answer.prediction_column
    made: dict[str, tuple[str, ...]] = {SAMPLE: ("id",), SUBSET: ("id",)}
    if answer.classes and label in names:
        made[LABEL] = (label,)
    if answer.classes and predicted in names:
        made[PREDICTION] = (predicted,)
    if LABEL in made and PREDICTION in made:
        made[CORRECT] = (label, predicted)
    if LOSS in names:
        made[LOSS] = (LOSS,)
    kept = [name for name in names if name.startswith(_KEPT)]
    losses = [name for name in kept if name.startswith("loss.")]
    # The only loss is the loss; it would be told twice.
    made |= {name: (name,) for name in kept if len(losses) > 1 or name not in losses}
    made[ERROR] = (ERROR,)
    return made


def element_columns(evaluation: Evaluation, subsets: Sequence[str]) -> list[str]:
    """Return the columns of metrics that hold confusion elements; as several a sample they are in no table of samples.

    Of a subset in which all samples failed the column has no type; another one tells.
    """
    fields = [field for subset in subsets for field in evaluation.schema(subset)]
    return list(dict.fromkeys(one.name for one in fields if one.name.startswith("metric.") and is_elements(one.type)))


def _plain(evaluation: Evaluation, subset: str, elements: Collection[str]) -> list[str]:
    return [name for name in evaluation.column_names(subset) if name not in elements]


def _table(
    evaluation: Evaluation,
    subset: str,
    answer: ModelAnswer,
    columns: Collection[str] | None,
    elements: Collection[str],
) -> pa.Table:
    names = _plain(evaluation, subset, elements)
    made = _made_from(names, subset, answer)
    if columns is not None:
        made = {name: sources for name, sources in made.items() if name in columns}
    needed = {one for sources in made.values() for one in sources}
    if made.keys() <= {SUBSET}:
        rows = evaluation.count(subset)
        return pa.table({name: pa.repeat(pa.scalar(subset), rows) for name in made} or {SUBSET: _nulls(rows)})
    # Each name once: a file of somebody else's may have a column twice, and Arrow then gives both.
    whole = evaluation.table(subset, [name for name in dict.fromkeys(names) if name in needed])
    label, predicted = answer.label_column, answer.prediction_column
    whole = as_written(whole, subset, (label, predicted) if answer.classes else ())
    texts = {name: whole[name].cast(pa.string()) for name in (label, predicted) if name in needed}
    plain = {SUBSET: pa.repeat(pa.scalar(subset), whole.num_rows), LABEL: texts.get(label)}
    plain[PREDICTION] = texts.get(predicted)
    if CORRECT in made:
        plain[CORRECT] = pc.equal(texts[label], texts[predicted])
    table: dict[str, Any] = {
        name: plain[name] if name in plain else whole[sources[0]] for name, sources in made.items()
    }
    return pa.table(table)


def _nulls(rows: int) -> pa.Array:
    return pa.nulls(rows, pa.string())


_NUMBERS = ("loss", "loss.", "metric.")


def as_written(table: pa.Table, subset: str, labels: Sequence[str]) -> pa.Table:
    """Return a subset's table, or some columns, as analyses take it, metadata as plain values; `labels` hold classes.

    Raises `EvaluationError` where ids, losses, metrics or labels are not what Cutaway writes.
    """
    for field in table.schema:
        if not _is_written(field, labels):
            _refuse(subset, f"{field.name} holds {field.type}")
    if "id" in table.column_names:
        ids = table["id"]
        if ids.null_count or len(pc.unique(ids)) < len(ids):
            _refuse(subset, "not every sample has an id of its own")
    for place, name in enumerate(table.column_names):
        if name.startswith(METADATA) and not _is_plain(table[name].type):
            table = table.set_column(place, name, _texts(table[name]))
    return table


def joined_tables(tables: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of several tables; metadata whose types do not go together become texts."""
    types: dict[str, list[pa.DataType]] = {}
    for table in tables:
        for field in table.schema:
            types.setdefault(field.name, []).append(field.type)
    apart = {name for name, each in types.items() if name.startswith(METADATA) and not _go_together(each)}
    alike = []
    for table in tables:
        for place, name in enumerate(table.column_names):
            if name in apart and not pa.types.is_null(table[name].type):
                table = table.set_column(place, name, _texts(table[name]))  # noqa: PLW2901 - a copy with one column new
        alike.append(table)
    return pa.concat_tables(alike, promote_options="permissive")


def _is_written(field: pa.Field, labels: Sequence[str]) -> bool:
    name, kind = field.name, field.type
    if pa.types.is_null(kind):
        return bool(name != "id")
    if name in ("id", "error", "hash"):
        return bool(pa.types.is_string(kind))
    if name in labels:
        return bool(pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_boolean(kind))
    if name == _NUMBERS[0] or name.startswith(_NUMBERS[1:]):
        return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind))
    return True


def _is_plain(kind: pa.DataType) -> bool:
    return not (pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _go_together(types: Sequence[pa.DataType]) -> bool:
    try:
        pa.unify_schemas([pa.schema([("one", kind)]) for kind in types], promote_options="permissive")
    except pa.ArrowException:
        return False
    return True


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array([None if one is None else str(one) for one in column.to_pylist()], pa.string())])


def _refuse(subset: str, what: str) -> None:
    raise EvaluationError(f"The table of {subset!r} is not as Cutaway writes it: {what}.", hint="Evaluate again.")
