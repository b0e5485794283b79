"""Everything about one run that fits on one screen, with what of it is damaged said beside it."""

from __future__ import annotations

from typing import Any

from cutaway.errors import CutawayError, RunDamaged
from cutaway.rules.health import Health, health_of
from cutaway.run.command_words import command_path
from cutaway.run.identity import Run
from cutaway.run.layout import CONFIG_FILE
from cutaway.run.leases import CHIEF, RunState, lease_key
from cutaway.run.overlay_use import overlay_of
from cutaway.run.segments import WriterId
from cutaway.run.state_words import run_words, stop_words
from cutaway.run.tables import Damage
from cutaway.studio.answers.plain import plain, text
from cutaway.studio.answers.secrets import hidden
from cutaway.studio.findings import findings_of
from cutaway.studio.previews import has_pictures
from cutaway.studio.runs.steps import steps_facts
from cutaway.studio.wire.base import State
from cutaway.studio.wire.runs import (
    AttemptRow,
    CollectionRow,
    DamageRow,
    FailureRow,
    HealthRow,
    RunDetail,
    RunRow,
    StepsFacts,
    TellingRow,
)
from cutaway.tensors.statistic_names import STATISTIC_NAMES
from cutaway.trial.model_tensors import ModelTensors
from cutaway.trial.series_totals import is_loss, totals_of
from cutaway.trial.trial import Trial

__all__ = ["run_detail"]

# What is shown in a place of its own, or means nothing to people.
_NOT_IDENTITY = frozenset({"name", "state", "attempts", "format", "stopped_by"})
MOST_DAMAGE = 1000


def run_detail(trial: Trial, row: RunRow) -> RunDetail:
    """Return everything about a run; `row` is how the table of runs has it."""
    run = trial.run
    damage: list[Damage] = []
    config = _config(run, damage)
    steps = steps_facts(trial)
    tensors = ModelTensors(trial)
    state = trial.state()
    command = command_path(run.path)
    words = run_words(run, state, command, steps.last)
    findings = findings_of(trial)
    scalars = trial.scalar_series()  # what is damaged of it is known from here on
    losses = {key: totals_of(one.step, one.value) for key, one in scalars.items() if is_loss(key[0])}
    health = health_of(run, state, findings, losses=losses or trial.loss_totals())
    trial.values_window(0, 0)
    attempts = _attempts(run, state, steps.last)
    return RunDetail(
        row=_row_now(row, steps, attempts, health, len(findings)),
        meaning=text(words.meaning),
        next=text(words.following),
        command=text(command),
        stopped_by=text(stop_words(words.stopped_by, steps.last)),
        failure=None if words.failure is None else FailureRow(**words.failure._asdict()),
        identity=plain(hidden({key: run.identity[key] for key in run.identity if key not in _NOT_IDENTITY})),
        config=config,
        attempts=attempts,
        steps=steps,
        collections=[
            CollectionRow(name=text(one.name), tensors=count)
            for one in trial.collections().values()
            if (count := sum(map(one.matches, tensors.names)))
        ],
        telling=[TellingRow(**{**vars(one), "message": text(one.message)}) for one in health.telling],
        damage=[
            DamageRow(path=text(one.path), step=one.step, reason=text(one.reason))
            for one in dict.fromkeys([*trial.damage, *trial.overviews.damage, *damage][:MOST_DAMAGE])
        ],
        overlay=_overlay(run),
        previews=has_pictures(run),
        statistics=list(STATISTIC_NAMES) if tensors.states else [],
    )


def _row_now(row: RunRow, steps: StepsFacts, attempts: list[AttemptRow], health: Health, findings: int) -> RunRow:
    """Return the row with what was looked at just now: the table says how a run was when it looked last."""
    now = {name: getattr(health, name) for name in ("verdict", "since", "warnings", "errors")}
    known, sentence = row.health, text(health.sentence)
    if now != known.model_dump(include=set(now)) or not known.sentence.startswith(sentence):
        # Otherwise the table's sentence stays, which says too what of the run is damaged.
        known = HealthRow(**now, sentence=sentence)
    state = attempts[-1].state if attempts else row.state
    so_far = row.steps if steps.last is None else steps.last + 1
    return row.model_copy(update={"state": state, "health": known, "findings": findings, "steps": so_far})


def _config(run: Run, damage: list[Damage]) -> dict[str, Any]:
    try:
        found: dict[str, Any] = plain(hidden(run.config()))
    except (CutawayError, OSError, RecursionError) as error:
        damage.append(Damage(CONFIG_FILE, 0, None, _reason(error)))
        return {}
    return found


def _reason(error: Exception) -> str:
    """Say what is wrong without the place on this machine."""
    if isinstance(error, RunDamaged):
        return error.reason
    return "it is not a YAML dictionary" if isinstance(error, CutawayError) else type(error).__name__


def _attempts(run: Run, state: RunState, last_step: int | None) -> list[AttemptRow]:
    listed = sorted(run.attempts(), key=lambda one: one.number)
    leases = {one.number: _lease(run, one.number) for one in listed}
    found = []
    for place, one in enumerate(listed):
        taken = min((later.from_step for later in listed[place + 1 :]), default=None)
        last = last_step if taken is None else taken - 1
        lease = leases[one.number]
        found.append(
            AttemptRow(
                attempt=one.number,
                from_step=one.from_step,
                last_step=last if last is not None and last >= one.from_step else None,
                state=_shown(state, lease) if taken is None else _past(lease),
                host=text(lease.get("host", "")),
                pid=lease["pid"] if isinstance(lease.get("pid"), int) else None,
            )
        )
    return found


def _lease(run: Run, number: int) -> dict[str, Any]:
    try:
        return run.document(lease_key(WriterId("train", CHIEF, number))) or {}
    except (CutawayError, OSError):
        # It may be anybody's: an attempt whose lease is damaged is listed all the same.
        return {}


def _shown(state: RunState, lease: dict[str, Any]) -> State:
    return "paused" if state is RunState.RUNNING and lease.get("paused") is True else state.value


def _past(lease: dict[str, Any]) -> State:
    """An attempt that another one took over from runs no more, whatever it wrote last."""
    state = next((one for one in RunState if one == lease.get("state")), None)
    if state is None:
        return "unknown"
    return state.value if state.has_ended else "crashed"


def _overlay(run: Run) -> str:
    told = overlay_of(run)
    return text(told.get("name", "")) if told is not None else ""
