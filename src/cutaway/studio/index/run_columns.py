"""The columns of the table of runs: which there are, and the value that a run has in each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from cutaway.studio.index.facts import IndexedRun
from cutaway.studio.index.values import Value

__all__ = ["BUILT_IN", "HEALTH_ORDER", "BuiltIn", "Kind", "group_of", "kind_of", "title_of"]

Kind = Literal["number", "text", "time", "flag"]
Group = Literal["run", "config", "scalar", "identity"]
# From well to ill.
HEALTH_ORDER = ("healthy", "not watched", "warnings", "sick")


class BuiltIn(NamedTuple):
    """A column that every run has."""

    title: str
    kind: Kind
    value: Callable[[IndexedRun], Any]


def _last(facts: IndexedRun) -> float | None:
    return facts.loss.last if facts.loss is not None else None


def _best(facts: IndexedRun) -> float | None:
    return facts.loss.best if facts.loss is not None else None


BUILT_IN: dict[str, BuiltIn] = {
    "name": BuiltIn("Name", "text", lambda facts: facts.name),
    "folder": BuiltIn("Folder", "text", lambda facts: facts.folder),
    "project": BuiltIn("Project", "text", lambda facts: facts.project or None),
    "kind": BuiltIn("Kind", "text", lambda facts: facts.kind),
    "state": BuiltIn("State", "text", lambda facts: facts.state),
    "health": BuiltIn("Health", "text", lambda facts: facts.health.verdict),
    "loss": BuiltIn("Last loss", "number", _last),
    "best_loss": BuiltIn("Best loss", "number", _best),
    "created": BuiltIn("Created", "time", lambda facts: facts.created),
    "updated": BuiltIn("Updated", "time", lambda facts: facts.updated),
    "seconds": BuiltIn("Seconds", "number", lambda facts: facts.seconds),
    "steps": BuiltIn("Steps", "number", lambda facts: facts.steps),
    "epochs": BuiltIn("Epochs", "number", lambda facts: facts.epochs),
    "framework": BuiltIn("Framework", "text", lambda facts: facts.framework or None),
    "attempts": BuiltIn("Attempts", "number", lambda facts: facts.attempts),
    "evaluations": BuiltIn("Evaluations", "number", lambda facts: facts.evaluations),
    "findings": BuiltIn("Findings", "number", lambda facts: facts.findings),
    "warnings": BuiltIn("Warnings", "number", lambda facts: facts.health.warnings),
    "errors": BuiltIn("Errors", "number", lambda facts: facts.health.errors),
    "tags": BuiltIn("Tags", "text", lambda facts: ", ".join(facts.tags) or None),
    "note": BuiltIn("Note", "text", lambda facts: facts.note or None),
    "baseline": BuiltIn("Baseline", "flag", lambda facts: facts.baseline),
    # A run may have more settings and scalars than a table can: how many of them no column shows.
    "left_out": BuiltIn("Values left out", "number", lambda facts: facts.left_out),
}


def group_of(name: str) -> Group:
    """Return the group of a column by its name."""
    if name in BUILT_IN:
        return "run"
    if name.startswith("config."):
        return "config"
    return "scalar" if name.startswith("scalar.") else "identity"


def title_of(name: str) -> str:
    """Return what to write over a column."""
    if name in BUILT_IN:
        return BUILT_IN[name].title
    group, _, rest = name.partition(".")
    if group != "scalar":
        return rest
    scalar, mode, which = rest.rsplit(".", 2)
    return f"{scalar} ({mode}), {which}"


def kind_of(name: str, values: Sequence[Value]) -> Kind:
    """Return what a column holds, from its name or from its values."""
    if name in BUILT_IN:
        return BUILT_IN[name].kind
    kinds = set(map(type, values))
    if kinds == {bool}:
        return "flag"
    return "number" if kinds and kinds <= {int, float} else "text"
