"""What the table of runs shows of one run: read from its folder a few places at a time, and kept as plain values.

Decides no state: that takes looking more than once, see `states`.
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from cutaway.errors import RunDamaged, RunError, RunNotFound
from cutaway.rules.health import NOT_CHECKED, health_of
from cutaway.run.annotations import Annotations, readable_annotations
from cutaway.run.evaluations import evaluations
from cutaway.run.identity import Run
from cutaway.run.layout import CONFIG_FILE, LEASES, RUN_FILE, WATCH
from cutaway.run.leases import RunState
from cutaway.run.plain_text import plain_text
from cutaway.run.schemas import FINDINGS, SCALARS, STEPS
from cutaway.studio.answers.secrets import hidden
from cutaway.studio.index.looking import changed, size_of, time_of
from cutaway.studio.index.places import Place
from cutaway.studio.index.values import Value, cells_of
from cutaway.trial.run_totals import LossFacts, RunTotals
from cutaway.trial.series_totals import Key, SeriesTotals, in_order
from cutaway.trial.summary import StepsGlance, glance_at_steps

__all__ = ["HealthFacts", "IndexedRun", "Memory", "annotated", "read_facts", "unreadable"]

log = logging.getLogger("cutaway.studio")

MOST_SERIES = 200
LONGEST_NOTE_OF_ROW = 1000
LARGEST_DOCUMENT = 4 << 20
# They have columns of their own, or belong to nobody but us.
_NOT_IDENTITY = frozenset(("format", "name", "created", "project", "kind", "framework", "state", "attempts"))


_ENDS = frozenset(str(state) for state in RunState if state.has_ended)


class HealthFacts(NamedTuple):
    """What the findings come to, as `rules.health` has it."""

    verdict: str = "not checked"
    sentence: str = NOT_CHECKED
    since: int | None = None
    warnings: int = 0
    errors: int = 0


UNCHECKED = HealthFacts()


@dataclass(frozen=True, slots=True)
class IndexedRun:
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
    health: HealthFacts = UNCHECKED
    loss: LossFacts | None = None
    tags: tuple[str, ...] = ()
    note: str = ""
    baseline: bool = False
    keys: tuple[str, ...] = ()
    values: tuple[Value, ...] = ()
    series: tuple[int, ...] = ()
    """Of each scalar, in the order of the keys: how many values, how many of them not finite, and the last step."""


class Memory:
    """What of a run need not be read again while it grows: its settings as they were, its scalars so far."""

    def __init__(self) -> None:
        self.totals: RunTotals | None = None
        self.config_mark: tuple[int, int] | None = None
        self.config: _Config = _Config({}, 0, "")


class _Config(NamedTuple):
    """The cells of config.yaml, how many more there are, and what is wrong with it."""

    cells: dict[str, Value]
    more: int
    wrong: str


def _as_it_says(state: str) -> str:
    return state


def read_facts(place: Place, memory: Memory | None = None, decide: Callable[[str], str] = _as_it_says) -> IndexedRun:
    """Read one run. `decide` is given the state that it says of itself, and returns the one that it is in.

    Whatever cannot be read at all makes a row that says so, whose state is unknown.
    """
    reason = place.reason
    if not reason:
        try:
            return _facts(place, Run.open(place.path, mapped=False), memory or Memory(), decide)
        except RunDamaged as error:
            reason = f"{error.path} is damaged: {error.reason}"
        except RunNotFound:
            reason = "its run.json is gone"
        except RunError as error:
            reason = str(error).replace(place.path, place.folder)
        except OSError as error:
            reason = f"it cannot be read: {error.strerror or type(error).__name__}"
        except Exception as error:  # a folder of anybody's: one that breaks us must not hide the others
            log.debug("Run %r cannot be read.", place.folder, exc_info=True)
            reason = f"it cannot be read as a run ({type(error).__name__})"
    return unreadable(place, reason)


def unreadable(place: Place, reason: str) -> IndexedRun:
    """Return the row of a folder that cannot be read."""
    health = HealthFacts(sentence=plain_text(f"not readable: {reason}", 500))
    return IndexedRun(place.id, place.name, place.folder, updated=changed(place.path), health=health)


def annotated(facts: IndexedRun, annotations: Annotations) -> IndexedRun:
    """Return a row with what people wrote about the run."""
    return replace(facts, tags=annotations.tags, note=annotations.note, baseline=annotations.baseline)


def _facts(place: Place, run: Run, memory: Memory, decide: Callable[[str], str]) -> IndexedRun:
    identity = run.identity
    config = _config(run, memory)
    identity_cells, _ = cells_of(
        hidden({key: value for key, value in identity.items() if key not in _NOT_IDENTITY}), "identity."
    )
    memory.totals = memory.totals or RunTotals(run)
    memory.totals.poll()
    series = memory.totals.series
    shown = in_order(series)[:MOST_SERIES]
    cells = {**config.cells, **_scalar_cells(series, shown), **identity_cells}
    findings = run.findings()
    glance = glance_at_steps(run)
    said = _said_state(identity.get("state"))
    state = said if said == "unknown" else decide(said)
    health = health_of(run, RunState(state), findings, losses=memory.totals.losses, most_telling=0)
    notes, unread = readable_annotations(run)
    damage = [f"{one.path}: {one.reason}" for one in run.damage]
    wrong = "; ".join(filter(None, [*damage, config.wrong, f"{unread.path}: {unread.reason}" if unread else ""]))
    sentence = f"{health.sentence}; damaged: {wrong}" if wrong else health.sentence
    return IndexedRun(
        id=place.id,
        name=place.name,
        folder=place.folder,
        project=plain_text(str(identity.get("project") or ""), 300),
        kind="evaluation" if identity.get("kind") == "evaluation" else "training",
        state=state,
        created=_time(identity.get("created")) or changed(f"{place.path}/{RUN_FILE}"),
        updated=_updated(place.path),
        seconds=_seconds(run, glance),
        steps=glance.steps,
        epochs=glance.epochs,
        framework=plain_text(str(identity.get("framework") or ""), 100),
        attempts=len(run.attempts()),
        evaluations=len(evaluations(run)),
        findings=len(findings),
        left_out=config.more + len(series) - len(shown),
        health=HealthFacts(health.verdict, plain_text(sentence, 500), health.since, health.warnings, health.errors),
        loss=memory.totals.glance_at_loss(),
        tags=notes.tags,
        # A hundred kilobytes of each of ten thousand runs are not held, and not sent with a list.
        note=plain_text(notes.note, LONGEST_NOTE_OF_ROW, lines=True),
        baseline=notes.baseline,
        keys=tuple(cells),
        values=tuple(cells.values()),
        series=tuple(
            number for one in map(series.__getitem__, shown) for number in (one.count, one.nonfinite, one.last_step)
        ),
    )


def _config(run: Run, memory: Memory) -> _Config:
    path = f"{run.path}/{CONFIG_FILE}"
    mark = (time_of(path), size_of(path))
    if memory.config_mark != mark:
        memory.config_mark, memory.config = mark, _read_config(run, mark[1])
    return memory.config


def _read_config(run: Run, size: int) -> _Config:
    if size > LARGEST_DOCUMENT:
        return _Config({}, 0, f"config.yaml is larger than {LARGEST_DOCUMENT >> 20} MB")
    try:
        return _Config(*cells_of(hidden(run.config()), "config."), "")
    except (RunError, ValueError, RecursionError):
        return _Config({}, 0, "config.yaml cannot be read")


def _scalar_cells(series: Mapping[Key, SeriesTotals], shown: list[Key]) -> dict[str, Value]:
    cells: dict[str, Value] = {}
    for name, mode in shown:
        one = series[name, mode]
        key = f"scalar.{plain_text(name, 100)}.{plain_text(mode, 20)}"
        cells |= {f"{key}.last": _finite(one.last), f"{key}.min": one.min, f"{key}.max": one.max}
    return cells


def _seconds(run: Run, glance: StepsGlance) -> float | None:
    """Return how long the steps took."""
    if glance.seconds is None or len(run.attempts()) < 2:
        return _finite(glance.seconds)
    # What passed between two attempts was no training.
    rows = run.table(STEPS).read(columns=["attempt", "time"]).group_by("attempt")
    spans = rows.aggregate([("time", "min"), ("time", "max")])
    pairs = zip(spans["time_min"].to_pylist(), spans["time_max"].to_pylist(), strict=True)
    return _finite(sum(last - first for first, last in pairs))


def _said_state(state: object) -> str:
    # Without a word of its own, and without a lease, nobody closed it.
    return str(state) if isinstance(state, str) and state in _ENDS else str(RunState.ENDED)


def _time(created: object) -> float | None:
    try:
        return datetime.fromisoformat(str(created)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _updated(path: str) -> float | None:
    """Return when a file of the run itself was written last; a tag is no news of a training."""
    times = [changed(f"{path}/{name}") for name in (RUN_FILE, CONFIG_FILE)]
    for folder in (LEASES, STEPS, SCALARS, FINDINGS, WATCH):
        try:
            with os.scandir(f"{path}/{folder}") as entries:
                times += [entry.stat().st_mtime for entry in entries]
        except OSError:
            continue
    return max((one for one in times if one is not None), default=None)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
