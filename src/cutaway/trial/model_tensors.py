"""The tensors of a run in facts: where each is in the model, how it was at its last step, what was found about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from cutaway.errors import CutawayError
from cutaway.run.findings import Finding, Severity, findings_from_table, tensors_named_by, worst_severity
from cutaway.tensors.collection import Collection
from cutaway.trial.model_order import ModelOrder
from cutaway.trial.overview import TensorSummary
from cutaway.trial.tensor_kinds import EVERYWHERE, Kind, kind_of, layer_of, model_prefix
from cutaway.trial.trial import Trial

__all__ = ["ModelTensors", "TensorFacts", "zero_share"]


class TensorFacts(NamedTuple):
    """One tensor: its place, its steps, its statistics at the last of them; None and 0 where it has none."""

    name: str
    layer: str
    kind: Kind
    collections: list[str]
    size: int | None
    first_step: int | None
    last_step: int | None
    saved_steps: int
    nonfinite: int
    zeros: float | None
    mean: float | None
    std: float | None
    l2: float | None
    change: float | None
    findings: int
    severity: Severity | None


@dataclass(frozen=True)
class ModelTensors:
    """What is known of all tensors of a run at one moment, in the order of the model."""

    trial: Trial

    @cached_property
    def states(self) -> Mapping[str, TensorSummary]:
        """The tensors that have statistics."""
        return {one.name: one for one in self.trial.overviews.tensors()}

    @cached_property
    def saved(self) -> frozenset[str]:
        """The tensors that were saved at some step."""
        return frozenset(self.trial.saved_names())

    @cached_property
    def names(self) -> list[str]:
        """All tensors in the model's order: those with statistics, and what was only saved."""
        return self.order.sorted([*self.states, *sorted(self.saved - self.states.keys())])

    @property
    def order(self) -> ModelOrder:
        """Where the layers stand."""
        return self.trial.overviews.order

    @cached_property
    def prefix(self) -> str:
        """What stands before the names of the model's parameters."""
        try:
            model = self.trial.run.config().get("model")
        except (CutawayError, OSError, RecursionError):
            # `RunDetail` says that it cannot be read; the names alone tell nearly as much.
            model = None
        return model_prefix(self.names, model if isinstance(model, str) else "")

    @cached_property
    def findings(self) -> dict[str, list[Finding]]:
        """The findings that name a tensor, by its name."""
        found: dict[str, list[Finding]] = {}
        for finding in findings_from_table(self.trial.findings()):
            for name in tensors_named_by(finding):
                found.setdefault(name, []).append(finding)
        return found

    @cached_property
    def _collections(self) -> Sequence[Collection]:
        return [one for name, one in self.trial.collections().items() if name not in EVERYWHERE]

    def collections(self, name: str) -> list[str]:
        """Return the collections of a tensor that say something about it."""
        return [one.name for one in self._collections if one.matches(name)]

    def layer(self, name: str) -> str:
        """Return the layer of a tensor."""
        return layer_of(name, self.prefix)

    def matching(self, collection: str, search: str) -> list[str]:
        """Return the tensors of a collection whose names hold a text, each where it was asked for."""
        found = self.names
        if collection:
            wanted = self.trial.collection(collection)
            found = [name for name in found if wanted.matches(name)]
        lowered = search.lower()
        return [name for name in found if lowered in name.lower()] if search else found

    def saved_steps(self, name: str) -> list[int]:
        """Return the steps at which a tensor was saved."""
        return self.trial.tensor(name).steps(show_incomplete_steps=True) if name in self.saved else []

    def facts(self, name: str) -> TensorFacts:
        """Return a tensor in a few values."""
        state, collections = self.states.get(name), self.collections(name)
        findings, saved = self.findings.get(name, []), self.saved_steps(name)
        return TensorFacts(
            name=name,
            layer=self.layer(name),
            kind=kind_of(name, collections),
            collections=collections,
            size=state.size if state is not None else None,
            first_step=state.first_step if state is not None else min(saved, default=None),
            last_step=state.last_step if state is not None else max(saved, default=None),
            saved_steps=len(saved),
            nonfinite=0 if state is None else int(state.last["nonfinite"]),
            zeros=zero_share(state),
            **{key: None if state is None else state.last[key] for key in ("mean", "std", "l2", "change")},
            findings=len(findings),
            severity=worst_severity(findings),
        )

    def number(self, name: str, column: str) -> float | int | None:
        """Return what a tensor has in a column of numbers."""
        state = self.states.get(name)
        if column == "findings":
            return len(self.findings.get(name, []))
        if column == "saved_steps":
            return len(self.saved_steps(name))
        if state is None:
            return None
        if column in ("size", "first_step", "last_step"):
            return int(getattr(state, column))
        return zero_share(state) if column == "zeros" else state.last[column]


def zero_share(state: TensorSummary | None) -> float | None:
    """Return which share of a tensor is zero; None where it is empty or not known."""
    return state.last["zeros"] / state.size if state is not None and state.size else None
