"""What differs between runs: settings, versions, and where their scalars ended. Prints nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cutaway.cli.options import shown_path
from cutaway.run.schemas import SCALARS
from cutaway.trial.summary import flatten, glance_at_steps, scalar_facts

if TYPE_CHECKING:
    from cutaway.run import Run

__all__ = ["ComparedRuns", "Row", "compare_runs"]

_VERSIONS = ("framework", "git", "seed", "parent")


@dataclass(frozen=True)
class Row:
    """One thing with its value in each run; None where a run does not have it."""

    key: str
    values: tuple[Any, ...]

    @property
    def equal(self) -> bool:
        """Whether all runs agree."""
        return all(value == self.values[0] for value in self.values)


@dataclass(frozen=True)
class ComparedRuns:
    """Runs side by side; every row has a value for each of them, in their order."""

    runs: list[dict[str, Any]]
    config: list[Row]
    versions: list[Row]
    scalars: list[Row]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON values."""
        return {
            "runs": self.runs,
            "config": _by_agreement(self.config),
            "versions": _by_agreement(self.versions),
            "scalars": {row.key: list(row.values) for row in self.scalars},
        }


def compare_runs(runs: Sequence[Run]) -> ComparedRuns:
    """Read what is compared from each run and put it side by side."""
    about = [
        {**flatten(run.identity.get("versions", {})), **{key: run.identity.get(key) for key in _VERSIONS}}
        for run in runs
    ]
    return ComparedRuns(
        runs=[_run_object(run) for run in runs],
        config=side_by_side([flatten(run.config()) for run in runs]),
        versions=[row for row in side_by_side(about) if any(value is not None for value in row.values)],
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
    facts = [scalar_facts(run.table(SCALARS).read()) for run in runs]
    several = len({fact.mode for one in facts for fact in one}) > 1
    return [{f"{fact.name} ({fact.mode})" if several else fact.name: fact.last for fact in one} for one in facts]


def _by_agreement(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "different": {row.key: list(row.values) for row in rows if not row.equal},
        "equal": {row.key: row.values[0] for row in rows if row.equal},
    }
