"""What the commands about runs tell, as plain values, which are also their JSON.

Prints nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cutaway.cli.options import shown_path
from cutaway.cli.words import seconds_since
from cutaway.run.annotations import Annotations, readable_annotations
from cutaway.run.catalog import run_states
from cutaway.run.state_words import run_words
from cutaway.trial.run_facts import StepCounts, read_run_facts
from cutaway.trial.summary import Facts, glance_at_steps, loss_series

if TYPE_CHECKING:
    from cutaway.run import Run

__all__ = ["Facts", "annotations_object", "list_facts", "show_facts"]


def list_facts(runs: Iterable[Run]) -> list[Facts]:
    """Return a line's worth of facts for each run, reading only a few places of each."""
    now = datetime.now(UTC)
    listed = list(runs)
    return [_list_line(run, str(state), now) for run, state in zip(listed, run_states(listed), strict=True)]


def show_facts(run: Run, *, verify: bool = False) -> Facts:
    """Return everything that `runs show` tells of one run."""
    # Rules are imported only here: no other command about runs needs them.
    from cutaway.rules.health import health_of

    found = read_run_facts(run)
    path = shown_path(run.path)
    words = run_words(run, found.state, path, found.steps.last)
    names = ("code", "severity", "message", "where", "evidence", "source", "time")
    return {
        "name": run.name,
        "path": path,
        **{key: value for key, value in run.identity.items() if key not in ("name", "state", "attempts", "format")},
        "id": run.id,
        "age_seconds": seconds_since(run.identity.get("created"), datetime.now(UTC)),
        "state": str(found.state),
        "stopped_by": words.stopped_by,
        "meaning": words.meaning,
        "next": words.following,
        "attempts": run.identity.get("attempts", []),
        "steps": {**_steps_object(found.steps), "workers": found.workers},
        "scalars": [one._asdict() for one in found.scalars],
        "config": run.config(),
        "collections": [{"name": name, "tensors": count} for name, count in found.collections.items()],
        "findings": [{name: getattr(finding, name) for name in names} for finding in found.findings],
        "health": health_of(run, found.findings).to_dict(),
        "evaluations": [one.to_dict() for one in found.evaluations],
        **annotations_object(found.annotations),
        "damage": [one._asdict() for one in (run.verify() if verify else found.damage)],
        "verified": verify,
    }


def annotations_object(written: Annotations) -> Facts:
    """Return what people wrote about a run as JSON values."""
    return {"tags": list(written.tags), "note": written.note, "baseline": written.baseline}


def _list_line(run: Run, state: str, now: datetime) -> Facts:
    loss = loss_series(run)
    return {
        "name": run.name,
        "path": shown_path(run.path),
        "state": state,
        "created": run.identity.get("created"),
        "age_seconds": seconds_since(run.identity.get("created"), now),
        "steps": glance_at_steps(run).steps,
        "loss": None if loss is None else loss._asdict(),
        "tags": list(readable_annotations(run)[0].tags),
    }


def _steps_object(steps: StepCounts) -> Facts:
    return {key: value for key, value in steps._asdict().items() if key not in ("first", "samples_known")}
