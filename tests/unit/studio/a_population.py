"""Small evaluations for a studio to look at, and ways to damage them as a stranger would."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.studio.made_population import made_population
from cutaway.run.evaluations import Evaluation, write_source
from cutaway.run.identity import Run

__all__ = ["changed", "changed_source", "evaluation_of", "make"]


def make(root: Path, name: str = "made", samples: int = 200, classes: int = 3, **more: Any) -> Run:
    """Write a run with an evaluation of so many samples."""
    return made_population(root / name, samples, classes, **more)


def evaluation_of(root: Path, name: str = "made", number: int = 0) -> Evaluation:
    return Evaluation(Run.open(root / name, mapped=False), number)


def changed(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """Write a table that was kept anew with something changed; what it says about itself stays."""
    table = pq.read_table(path)
    pq.write_table(change(table).replace_schema_metadata(table.schema.metadata), path)


def changed_source(evaluation: Evaluation, change: Callable[[dict[str, Any]], None]) -> None:
    source = json.loads(json.dumps(dict(evaluation.source.document)))
    change(source)
    write_source(evaluation, source)
