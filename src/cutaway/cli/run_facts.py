"""What the commands about runs tell: gathered from the folder as plain values, which are also their JSON.

Prints nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cutaway.cli.opening import shown_path
from cutaway.cli.run_evaluations import evaluation_facts
from cutaway.cli.words import seconds_since
from cutaway.errors import RunDamaged
from cutaway.run.annotations import Annotations, read_annotations
from cutaway.run.catalog import run_states
from cutaway.run.layout import COLLECTIONS_FILE
from cutaway.run.leases import read_leases
from cutaway.run.preview import preview
from cutaway.run.schemas import FINDINGS, SCALARS, STATISTICS, STEPS
from cutaway.run.state_words import state_words
from cutaway.run.tables import Damage
from cutaway.tensors import Collections
from cutaway.trial.summary import GLANCES, Facts, loss_series, scalar_facts

if TYPE_CHECKING:
    import pyarrow as pa

    from cutaway.run import Run

__all__ = ["Facts", "collections_of", "list_facts", "show_facts"]


def list_facts(runs: Iterable[Run]) -> list[Facts]:
    """Return a line's worth of facts for each run, reading only a few places of each."""
    now = datetime.now(UTC)
    listed = list(runs)
    return [_line(run, str(state), now) for run, state in zip(listed, run_states(listed), strict=True)]


def show_facts(run: Run, *, verify: bool = False) -> Facts:
    """Return everything that `runs show` tells of one run."""
    damage = list(run.damage)
    steps = _steps(run, damage)
    state = run.state()
    holder = next(iter(read_leases(run.storage, "train")), {})
    meaning, following = state_words(state, shown_path(run.path), steps["last"], holder)
    if run.identity.get("kind") == "evaluation":
        # Nobody trained here: there are no tensors to look at, and nothing to resume.
        meaning, following = "a run of evaluations only", "cutaway runs list"
    facts: Facts = {
        "name": run.name,
        "path": shown_path(run.path),
        **{key: value for key, value in run.identity.items() if key not in ("name", "state", "attempts", "format")},
        "id": run.id,
        "age_seconds": seconds_since(run.identity.get("created"), datetime.now(UTC)),
        "state": str(state),
        "stopped_by": _stopped_by(run, holder),
        "meaning": meaning,
        "next": following,
        "attempts": run.identity.get("attempts", []),
        "steps": steps,
        "scalars": scalar_facts(_read(run, SCALARS, damage)),
        "config": run.config(),
        "collections": _collection_counts(run, damage),
        "findings": _findings(run, damage),
        "health": _health(run),
        "evaluations": evaluation_facts(run),
        **_annotations(run, damage),
    }
    return {**facts, "damage": [one._asdict() for one in (run.verify() if verify else damage)], "verified": verify}


def _stopped_by(run: Run, holder: Facts) -> Facts | None:
    """Return who stopped the last attempt; what an earlier one was stopped by no longer says how the run ended."""
    by = run.identity.get("stopped_by")
    return by if by is not None and by.get("attempt") == holder.get("attempt") else None


def _health(run: Run) -> Facts:
    # Rules are imported only here: no other command about runs needs them.
    from cutaway.rules.health import health_of

    return health_of(run).to_dict()


def collections_of(run: Run) -> Collections:
    """Return the run's collections; the ones that always exist where it wrote none, or they are damaged."""
    try:
        document = run.document(COLLECTIONS_FILE)
    except RunDamaged:
        document = None
    return Collections() if document is None else Collections.from_dict(document["collections"])


def _line(run: Run, state: str, now: datetime) -> Facts:
    ends = preview(run, STEPS, 2)
    return {
        "name": run.name,
        "path": shown_path(run.path),
        "state": state,
        "created": run.identity.get("created"),
        "age_seconds": seconds_since(run.identity.get("created"), now),
        "steps": 0 if ends is None else max(ends["step"].to_pylist()) + 1,
        "loss": loss_series(run),
        "tags": _annotations(run, [])["tags"],
    }


def _annotations(run: Run, damage: list[Damage]) -> Facts:
    """Return what people wrote about a run; where it cannot be read, nothing, and the damage is named."""
    try:
        written = read_annotations(run)
    except RunDamaged as error:
        damage.append(Damage(error.path, error.offset, None, error.reason))
        written = Annotations()
    return {"tags": list(written.tags), "note": written.note, "baseline": written.baseline}


def _read(run: Run, table: str, damage: list[Damage]) -> pa.Table:
    reader = run.table(table)
    rows = reader.read()
    damage += reader.damage
    return rows


def _steps(run: Run, damage: list[Damage]) -> Facts:
    rows = _read(run, STEPS, damage)
    first = min(rows["worker"].to_pylist(), default="")
    columns = ("worker", "step", "mode", "epoch", "statistics", "thinned")
    mine = [row for row in zip(*(rows[name].to_pylist() for name in columns), strict=True) if row[0] == first]
    by_mode: dict[str, int] = {}
    for row in mine:
        by_mode[row[2]] = by_mode.get(row[2], 0) + 1
    epochs = [row[3] for row in mine if row[3] is not None]
    return {
        "recorded": len(mine),
        "last": max((row[1] for row in mine), default=None),
        "by_mode": by_mode,
        "epochs": max(epochs) + 1 if epochs else None,
        "with_statistics": sum(bool(row[4]) for row in mine),
        "thinned": sum(row[5] or 0 for row in mine),
        "workers": sorted(set(rows["worker"].to_pylist())),
    }


def _collection_counts(run: Run, damage: list[Damage]) -> list[Facts]:
    try:
        run.document(COLLECTIONS_FILE)
    except RunDamaged as error:
        damage.append(Damage(error.path, error.offset, None, error.reason))
    seen = preview(run, STATISTICS, GLANCES)
    names = set() if seen is None else set(seen["tensor"].to_pylist())
    counts = {
        found.name: len(found.tensor_names | {name for name in names if found.matches(name)})
        for found in collections_of(run)
    }
    return [{"name": name, "tensors": count} for name, count in counts.items() if count]


def _findings(run: Run, damage: list[Damage]) -> list[Facts]:
    reader = run.table(FINDINGS)
    reader.poll()
    damage += reader.damage
    names = ("code", "severity", "message", "where", "evidence", "source", "time")
    return [{name: getattr(finding, name) for name in names} for finding in run.findings()]
