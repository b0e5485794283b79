"""Several runs side by side: what was set differently, which scalars they have, and one scalar's curves together.

What the runs have comes from the index; only the series that was asked for is read, and thinned as it is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.errors import RunError, did_you_mean
from cutaway.run.command_words import command_path
from cutaway.run.identity import Run
from cutaway.run.plain_text import plain_text
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.answers.plain import number_or_none, text
from cutaway.studio.answers.secrets import hidden
from cutaway.studio.curves.scalars import ScalarCurve, all_curves, scalar_group
from cutaway.studio.curves.tables import curves_table
from cutaway.studio.index import IndexedRun
from cutaway.studio.index.values import as_text
from cutaway.studio.runs.opened import OpenedRuns
from cutaway.studio.runs.rows import run_row
from cutaway.studio.wire.life import ScalarRow
from cutaway.studio.wire.runs import ConfigDifference, RunComparison
from cutaway.trial.how_made import data_and_corrections, differ, versions_of
from cutaway.trial.summary import flat_items
from cutaway.trial.trial import Trial

__all__ = ["compare_runs", "curves_of_runs"]

# Of each run; more could not be read by anybody.
MOST_SETTINGS = 2000
LONGEST_VALUE = 1000


def compare_runs(rows: Sequence[IndexedRun], runs: Sequence[Run]) -> RunComparison:
    """Return runs side by side, in their order."""
    settings = [_settings(run) for run in runs]
    met = dict.fromkeys(key for one in settings for key in one)
    order = ("config.", "overlay.", "data.", "identity.")
    keys = sorted(met, key=lambda key: next((place for place, one in enumerate(order) if key.startswith(one)), 0))
    return RunComparison(
        runs=[run_row(row) for row in rows],
        commands=[text(command_path(run.path, relative=True)) for run in runs],
        config=[_difference(key, [one.get(key) for one in settings]) for key in keys],
        scalars=_scalars(rows),
    )


def curves_of_runs(
    runs: Sequence[str], opened: OpenedRuns, series: str, rows: Sequence[IndexedRun], points: int
) -> pa.Table:
    """Return one series of several runs: columns run (dictionary), step, epoch, time, value, min, max, nonfinite.

    A run that has no such series has no rows. Raises where none of them has it.
    """
    name, _, mode = series.rpartition("@")
    parts, codes, whole, thinned = [], [], {}, []
    for i, run in enumerate(runs):
        with opened.trial(run) as trial:
            curve = _curve(trial, name, mode)
            if curve is None:
                continue
            part = curves_table([curve], trial.step_columns(), first=None, last=None, points=points)
        parts.append(part.drop_columns(["series"]))
        codes.append(np.full(len(part), i, np.int32))
        whole[run] = len(curve.points.step)
        if len(part) < whole[run]:
            thinned.append(run)
    if not parts:
        raise _no_such_series(series, rows)
    who = pa.DictionaryArray.from_arrays(pa.array(np.concatenate(codes)), pa.array(list(runs), pa.string()))
    joined = pa.concat_tables([part.replace_schema_metadata(None) for part in parts])
    told = {"points": json.dumps(whole), "thinned": json.dumps(thinned)}
    return joined.add_column(0, "run", who).replace_schema_metadata(told)


def _curve(trial: Trial, name: str, mode: str) -> ScalarCurve | None:
    """Return a series of a run: one that was saved, without looking at the steps, or one that follows from them."""
    saved = trial.scalar_series().get((name, mode))
    if saved is not None:
        return ScalarCurve(name, mode, derived=False, points=saved)
    return all_curves(trial).get(f"{name}@{mode}")


def _settings(run: Run) -> dict[str, str]:
    """Return what was set, and what the run was made with, as texts with dotted keys."""
    try:
        config: Mapping[str, Any] = hidden(run.config())
    except (RunError, ValueError, RecursionError) as error:
        config = {"": f"config.yaml cannot be read ({type(error).__name__})"}
    items = [
        *islice(flat_items(config, "config."), MOST_SETTINGS),
        *islice(flat_items(data_and_corrections(run)), MOST_SETTINGS),
        *islice(flat_items(hidden(versions_of(run)), "identity."), MOST_SETTINGS),
    ]
    return {plain_text(key, 300): as_text(value, LONGEST_VALUE) for key, value in items}


def _difference(key: str, values: list[str | None]) -> ConfigDifference:
    return ConfigDifference(key=key, values=values, differs=differ(key, values))


def _scalars(rows: Sequence[IndexedRun]) -> list[ScalarRow]:
    """Return every scalar that any of the runs has, over all of them."""
    found: dict[tuple[str, str], ScalarRow] = {}
    for row in rows:
        cells = dict(zip(row.keys, row.values, strict=True))
        names = [key.removesuffix(".last") for key in row.keys if key.startswith("scalar.") and key.endswith(".last")]
        for place, key in enumerate(names):
            name, mode = key.removeprefix("scalar.").rsplit(".", 1)
            count, nonfinite, last_step = row.series[3 * place : 3 * place + 3]
            last, least, largest = (cells.get(f"{key}.{which}") for which in ("last", "min", "max"))
            one = ScalarRow(
                series=f"{name}@{mode}",
                name=name,
                mode=mode,
                group=scalar_group(name),
                derived=False,
                count=count,
                first=None,
                last=number_or_none(last),
                min=number_or_none(least),
                max=number_or_none(largest),
                last_step=last_step,
                nonfinite=nonfinite,
            )
            found[name, mode] = _joined(found[name, mode], one) if (name, mode) in found else one
    return list(found.values())


def _joined(a: ScalarRow, b: ScalarRow) -> ScalarRow:
    """Return a scalar over two runs; its last value is that of the run that went furthest."""
    furthest = b if b.last_step > a.last_step else a
    return furthest.model_copy(
        update={
            "count": a.count + b.count,
            "nonfinite": a.nonfinite + b.nonfinite,
            "min": min((one for one in (a.min, b.min) if one is not None), default=None),
            "max": max((one for one in (a.max, b.max) if one is not None), default=None),
        }
    )


def _no_such_series(series: str, rows: Sequence[IndexedRun]) -> Refusal:
    known = [one.series for one in _scalars(rows)]
    near = did_you_mean(series, known) or f" They have {len(known)} series: `GET api/compare` lists them."
    return Refusal(404, "series-unavailable", f"None of these runs has a series {series[:200]!r}.", near.strip())
