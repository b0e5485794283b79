"""What the commands about runs tell, of one and of several side by side, as plain values, which are also their JSON.

Prints nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cutaway.cli.options import shown_path
from cutaway.cli.words import seconds_since
from cutaway.run.annotations import Annotations, readable_annotations
from cutaway.run.catalog import run_states
from cutaway.run.command_words import command_path
from cutaway.run.state_words import run_words, stop_words
from cutaway.trial.how_made import data_and_corrections, differ, versions_of
from cutaway.trial.run_facts import StepCounts, read_run_facts
from cutaway.trial.run_totals import RunTotals
from cutaway.trial.summary import Facts, flatten, glance_at_steps

if TYPE_CHECKING:
    from cutaway.run import Run

__all__ = ["ComparedRuns", "Facts", "Row", "annotations_object", "compare_runs", "list_facts", "show_facts"]


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
    words = run_words(run, found.state, command_path(run.path), found.steps.last)
    names = ("code", "severity", "message", "where", "evidence", "source", "time")
    return {
        "name": run.name,
        "path": path,
        **{key: value for key, value in run.identity.items() if key not in ("name", "state", "attempts", "format")},
        "id": run.id,
        "age_seconds": seconds_since(run.identity.get("created"), datetime.now(UTC)),
        "state": str(found.state),
        "stopped_by": words.stopped_by,
        "stop": stop_words(words.stopped_by, found.steps.last),
        "failure": None if words.failure is None else words.failure._asdict(),
        "meaning": words.meaning,
        "next": words.following,
        "attempts": run.identity.get("attempts", []),
        "steps": {**_steps_object(found.steps), "workers": found.workers},
        "scalars": [one._asdict() for one in found.scalars],
        "config": run.config(),
        "collections": [{"name": name, "tensors": count} for name, count in found.collections.items()],
        "findings": [{name: getattr(finding, name) for name in names} for finding in found.findings],
        "health": health_of(run, found.state, found.findings).to_dict(),
        "evaluations": [one.to_dict() for one in found.evaluations],
        **annotations_object(found.annotations),
        "damage": [one._asdict() for one in (run.verify() if verify else found.damage)],
        "verified": verify,
    }


def annotations_object(written: Annotations) -> Facts:
    """Return what people wrote about a run as JSON values."""
    return {"tags": list(written.tags), "note": written.note, "baseline": written.baseline}


def _list_line(run: Run, state: str, now: datetime) -> Facts:
    totals = RunTotals(run)
    totals.poll()
    loss = totals.loss()
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


@dataclass(frozen=True)
class Row:
    """One thing with its value in each run; None where a run does not have it."""

    key: str
    values: tuple[Any, ...]

    @property
    def equal(self) -> bool:
        """Whether all runs agree."""
        return not differ(self.key, self.values)


@dataclass(frozen=True)
class ComparedRuns:
    """Runs side by side; every row has a value for each of them, in their order."""

    runs: list[dict[str, Any]]
    config: list[Row]
    data: list[Row]
    versions: list[Row]
    scalars: list[Row]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON values."""
        return {
            "runs": self.runs,
            "config": _by_agreement(self.config),
            "data": _by_agreement(self.data),
            "versions": _by_agreement(self.versions),
            "scalars": {row.key: list(row.values) for row in self.scalars},
        }


def compare_runs(runs: Sequence[Run]) -> ComparedRuns:
    """Read what is compared from each run and put it side by side."""
    about = [versions_of(run) for run in runs]
    return ComparedRuns(
        runs=[_run_object(run) for run in runs],
        config=side_by_side([flatten(run.config()) for run in runs]),
        data=side_by_side([flatten(data_and_corrections(run)) for run in runs]),
        versions=side_by_side([{**flatten(one.pop("versions")), **one} for one in about]),
        scalars=side_by_side(_last_scalars(runs)),
    )


def side_by_side(dictionaries: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Return a row for every key of any of them, in the order in which they first appear."""
    keys = dict.fromkeys(key for one in dictionaries for key in one)
    return [Row(key, tuple(one.get(key) for one in dictionaries)) for key in keys]


def _run_object(run: Run) -> dict[str, Any]:
    return {
        "name": run.name,
        "path": shown_path(run.path),
        "state": str(run.state()),
        "created": run.identity.get("created"),
        "steps": glance_at_steps(run).steps,
    }


def _last_scalars(runs: Sequence[Run]) -> list[dict[str, float]]:
    """Return each run's last scalars by name; with their mode where any run has them in several."""
    totals = [RunTotals(run) for run in runs]
    for one in totals:
        one.poll()
    facts = [one.facts() for one in totals]
    several = len({fact.mode for one in facts for fact in one}) > 1
    return [{f"{fact.name} ({fact.mode})" if several else fact.name: fact.last for fact in one} for one in facts]


def _by_agreement(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "different": {row.key: list(row.values) for row in rows if not row.equal},
        "equal": {row.key: row.values[0] for row in rows if row.equal},
    }
