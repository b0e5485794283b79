"""What the table of runs shows of one run: read from its folder a few places at a time, and kept as plain values.

Decides no state: that takes looking more than once, see `states`.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from cutaway.errors import RunDamaged, RunError
from cutaway.rules.health import health_of
from cutaway.run.annotations import Annotations, read_annotations
from cutaway.run.evaluations import evaluations
from cutaway.run.identity import Run
from cutaway.run.plain_text import plain_text
from cutaway.run.preview import preview
from cutaway.run.schemas import SCALARS, STEPS
from cutaway.studio.index.places import Place
from cutaway.studio.index.totals import series_totals
from cutaway.studio.index.values import Value, cells_of
from cutaway.trial.summary import in_order, loss_series, scalar_facts, shrink

__all__ = ["GLANCE_POINTS", "HealthFacts", "LossFacts", "RunFacts", "annotated", "read_facts", "unreadable"]

GLANCE_POINTS = 48
MOST_SERIES = 200
# Where the scalars of a run take more, their least and largest are not known here: reading them all takes too long.
LARGEST_SCALARS = 64 << 20
LARGEST_DOCUMENT = 4 << 20
# They have columns of their own, or belong to nobody but us.
_NOT_IDENTITY = frozenset(("format", "name", "created", "project", "kind", "framework", "state", "attempts"))


class HealthFacts(NamedTuple):
    """What the findings come to, as `rules.health` has it."""

    verdict: str = "not watched"
    sentence: str = "no rule has looked at it yet"
    since: int | None = None
    warnings: int = 0
    errors: int = 0


class LossFacts(NamedTuple):
    """A glance at the loss; None stands for what is not finite."""

    name: str
    last: float | None
    best: float | None
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One row of the table of runs. `keys` and `values` are its config, scalars and identity, side by side."""

    id: str
    name: str
    folder: str
    project: str = ""
    kind: str = "training"
    state: str = "unknown"
    created: float | None = None
    updated: float | None = None
    seconds: float | None = None
    steps: int = 0
    epochs: int | None = None
    framework: str = ""
    attempts: int = 0
    evaluations: int = 0
    findings: int = 0
    left_out: int = 0
    health: HealthFacts = HealthFacts()
    loss: LossFacts | None = None
    tags: tuple[str, ...] = ()
    note: str = ""
    baseline: bool = False
    keys: tuple[str, ...] = ()
    values: tuple[Value, ...] = ()


def read_facts(place: Place) -> RunFacts:
    """Read one run. Whatever is wrong with it makes a row that says so; its state is that of `run.json` or unknown."""
    if place.reason:
        return unreadable(place, place.reason)
    try:
        return _facts(place, Run.open(place.path))
    except RunDamaged as error:
        return unreadable(place, f"{error.path} is damaged: {error.reason}")
    except RunError as error:
        return unreadable(place, str(error).replace(place.path, place.folder))
    except OSError as error:
        return unreadable(place, f"it cannot be read: {error.strerror or type(error).__name__}")
    except Exception as error:  # noqa: BLE001  # a folder of anybody's: one that breaks us must not hide the others
        return unreadable(place, f"it cannot be read as a run ({type(error).__name__})")


def unreadable(place: Place, reason: str) -> RunFacts:
    """Return the row of a folder that cannot be read."""
    health = HealthFacts(sentence=plain_text(f"not readable: {reason}", 500))
    return RunFacts(place.id, place.name, place.folder, updated=_changed(place.path), health=health)


def annotated(facts: RunFacts, annotations: Annotations) -> RunFacts:
    """Return a row with what people wrote about the run."""
    return replace(facts, tags=annotations.tags, note=annotations.note, baseline=annotations.baseline)


def _facts(place: Place, run: Run) -> RunFacts:
    identity = run.identity
    config, reason = _config(run)
    config_cells, more_config = cells_of(config, "config.")
    identity_cells, _ = cells_of({k: v for k, v in identity.items() if k not in _NOT_IDENTITY}, "identity.")
    scalar_cells, least, more_series = _scalars(run)
    cells = {**config_cells, **scalar_cells, **identity_cells}
    findings = run.findings()
    steps, epochs, seconds = _steps(run)
    health = health_of(run, findings)
    notes, unread = _annotations(run)
    damage = [f"{one.path}: {one.reason}" for one in run.damage]
    wrong = "; ".join(filter(None, [*damage, reason, unread]))
    sentence = f"{health.sentence}; damaged: {wrong}" if wrong else health.sentence
    facts = RunFacts(
        id=place.id,
        name=place.name,
        folder=place.folder,
        project=plain_text(str(identity.get("project") or ""), 300),
        kind="evaluation" if identity.get("kind") == "evaluation" else "training",
        created=_time(identity.get("created")) or _changed(f"{place.path}/run.json"),
        updated=_updated(place.path),
        seconds=seconds,
        steps=steps,
        epochs=epochs,
        framework=plain_text(str(identity.get("framework") or ""), 100),
        attempts=len(run.attempts()),
        evaluations=len(evaluations(run)),
        findings=len(findings),
        left_out=more_config + more_series,
        health=HealthFacts(health.verdict, plain_text(sentence, 500), health.since, health.warnings, health.errors),
        loss=_loss(run, least),
        keys=tuple(cells),
        values=tuple(cells.values()),
    )
    return annotated(facts, notes)


def _config(run: Run) -> tuple[dict[str, Any], str]:
    try:
        if run.storage.size("config.yaml") > LARGEST_DOCUMENT:
            return {}, "config.yaml is too large"
        return run.config(), ""
    except FileNotFoundError:
        return {}, ""
    except (RunError, ValueError, RecursionError):
        return {}, "config.yaml cannot be read"


def _annotations(run: Run) -> tuple[Annotations, str]:
    try:
        return read_annotations(run), ""
    except RunDamaged as error:
        return Annotations(), f"{error.path}: {error.reason}"


def _scalars(run: Run) -> tuple[dict[str, Value], dict[tuple[str, str], float], int]:
    """Return the cells of the scalars, the least of each, and how many series were left out."""
    size = sum(run.storage.size(f"{SCALARS}/{name}") for name in run.storage.list(SCALARS) if name.endswith(".arrow"))
    cells: dict[str, Value] = {}
    if size > LARGEST_SCALARS:
        glance = preview(run, SCALARS, GLANCE_POINTS)
        facts = [] if glance is None else scalar_facts(glance)
        for fact in facts[:MOST_SERIES]:
            cells[f"scalar.{plain_text(fact['name'], 100)}.{plain_text(fact['mode'], 20)}.last"] = _finite(fact["last"])
        return cells, {}, max(len(facts) - MOST_SERIES, 0)
    totals = series_totals(run.table(SCALARS).read(columns=["name", "mode", "step", "value"])) if size else {}
    least = {}
    for name, mode in in_order(totals)[:MOST_SERIES]:
        one = totals[name, mode]
        key = f"scalar.{plain_text(name, 100)}.{plain_text(mode, 20)}"
        cells |= {f"{key}.last": _finite(one.last), f"{key}.min": one.min, f"{key}.max": one.max}
        if one.min is not None:
            least[name, mode] = one.min
    return cells, least, max(len(totals) - MOST_SERIES, 0)


def _loss(run: Run, least: dict[tuple[str, str], float]) -> LossFacts | None:
    series = loss_series(run)
    if series is None:
        return None
    values = tuple(_finite(value) for value in shrink(series["series"], GLANCE_POINTS))
    seen = min((value for value in values if value is not None), default=None)
    best = least.get((series["name"], series["mode"]), seen)
    return LossFacts(plain_text(series["name"], 200), _finite(series["last"]), best, values)


def _steps(run: Run) -> tuple[int, int | None, float | None]:
    """Return how many steps there are, how many epochs, and how long they took."""
    ends = preview(run, STEPS, 2)
    if ends is None:
        return 0, None, None
    epochs = [epoch for epoch in ends["epoch"].to_pylist() if epoch is not None]
    if len(run.attempts()) > 1:
        # What passed between two attempts was no training.
        rows = run.table(STEPS).read(columns=["attempt", "time"]).group_by("attempt")
        spans = rows.aggregate([("time", "min"), ("time", "max")])
        lasted = sum(b - a for a, b in zip(spans["time_min"].to_pylist(), spans["time_max"].to_pylist(), strict=True))
    else:
        times = [at for at in ends["time"].to_pylist() if at is not None]
        lasted = max(times) - min(times) if times else math.nan
    return max(ends["step"].to_pylist()) + 1, max(epochs) + 1 if epochs else None, _finite(lasted)


def _time(created: object) -> float | None:
    try:
        return datetime.fromisoformat(str(created)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _updated(path: str) -> float | None:
    """Return when a file of the run itself was written last; a tag is no news of a training."""
    times = [_changed(f"{path}/{name}") for name in ("run.json", "config.yaml")]
    for folder in ("leases", STEPS, SCALARS, "findings", "watch"):
        try:
            with os.scandir(f"{path}/{folder}") as entries:
                times += [entry.stat().st_mtime for entry in entries]
        except OSError:
            continue
    return max((one for one in times if one is not None), default=None)


def _changed(path: str) -> float | None:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return None


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
