"""The tensors of a run as rows: where each is in the model, how it was at its last step, what was found about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cutaway.errors import ConfigurationError, CutawayError, ShapeUnavailableForStep, TensorUnavailable, did_you_mean
from cutaway.run.findings import SEVERITIES, Finding
from cutaway.studio.findings.rows import finding_row, findings_of, tensors_of, worst
from cutaway.studio.wire import Page, TensorDetail, TensorRow
from cutaway.tensors.collection import Collection
from cutaway.trial.overview import TensorSummary
from cutaway.trial.tensor_kinds import kind_of, layer_of, model_prefix
from cutaway.trial.trial import Trial

__all__ = ["ModelTensors", "tensor_detail", "tensor_page"]

# Collections that say nothing about a tensor.
_EVERYWHERE = frozenset({"all", "default", "layers"})
# More steps than a page can list.
MOST_SAVED = 10_000
MOST_FINDINGS = 1000


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
        """All tensors: those with statistics in the model's order, then what was only saved."""
        return [*self.states, *sorted(self.saved - self.states.keys())]

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
        for finding in findings_of(self.trial):
            for name in tensors_of(finding):
                found.setdefault(name, []).append(finding)
        return found

    @cached_property
    def _collections(self) -> Sequence[Collection]:
        return [one for name, one in self.trial.collections().items() if name not in _EVERYWHERE]

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

    def row(self, name: str) -> TensorRow:
        """Return a tensor as a row."""
        state, collections = self.states.get(name), self.collections(name)
        findings = self.findings.get(name, [])
        saved = self.saved_steps(name)
        values = {} if state is None else state.last
        return TensorRow(
            name=name,
            layer=self.layer(name),
            kind=kind_of(name, collections),
            collections=collections,
            size=state.size if state is not None else None,
            first_step=state.first_step if state is not None else min(saved, default=None),
            last_step=state.last_step if state is not None else max(saved, default=None),
            saved_steps=len(saved),
            nonfinite=int(values.get("nonfinite", 0)),
            zeros=zero_share(state),
            **{key: values.get(key) for key in ("mean", "std", "l2", "change")},
            findings=len(findings),
            severity=worst(findings),
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


def tensor_page(
    trial: Trial, *, collection: str = "", search: str = "", sort: str = "name", offset: int = 0, limit: int = 100
) -> Page[TensorRow]:
    """Return some of the tensors of a run, sorted; what has no value in the column comes last."""
    tensors = ModelTensors(trial)
    names = _sorted(tensors, tensors.matching(collection, search), sort)
    rows = [tensors.row(name) for name in names[offset : offset + limit]]
    return Page(data=rows, total=len(names), offset=offset, limit=limit)


def tensor_detail(trial: Trial, name: str) -> TensorDetail:
    """Return one tensor with the steps at which it was saved in full. Raises `TensorUnavailable`."""
    tensors = ModelTensors(trial)
    if name not in tensors.states and name not in tensors.saved:
        raise TensorUnavailable(name, trial.name, tensors.names)
    saved = tensors.saved_steps(name)
    shape, dtype = _form(trial, name, saved[-1]) if saved else (None, None)
    return TensorDetail(
        tensor=tensors.row(name),
        shape=shape,
        dtype=dtype,
        saved=saved[-MOST_SAVED:],
        findings=[finding_row(one, trial.run) for one in tensors.findings.get(name, [])[:MOST_FINDINGS]],
    )


def _form(trial: Trial, name: str, step: int) -> tuple[list[int] | None, str]:
    """Return the shape and the type that a tensor was last saved with."""
    tensor = trial.tensor(name)
    try:
        shape = list(tensor.shape(step))
    except ShapeUnavailableForStep:
        shape = None
    return shape, tensor.dtype(step)


_NUMBERS = (
    "size",
    "first_step",
    "last_step",
    "saved_steps",
    "nonfinite",
    "zeros",
    "mean",
    "std",
    "l2",
    "change",
    "findings",
)


def _sorted(tensors: ModelTensors, names: list[str], sort: str) -> list[str]:
    column, down = sort.removeprefix("-"), sort.startswith("-")
    if column == "model":
        return names[::-1] if down else names
    texts: dict[str, Callable[[str], Any]] = {
        "name": lambda name: name,
        "layer": lambda name: (tensors.layer(name), name),
        "kind": lambda name: (kind_of(name, tensors.collections(name)), name),
        "severity": lambda name: _rank(tensors.findings.get(name, [])),
    }
    if column in texts:
        return sorted(names, key=texts[column], reverse=down)
    if column not in _NUMBERS:
        known = ("model", *texts, *_NUMBERS)
        raise ConfigurationError(f"Tensors cannot be sorted by {column!r}.{did_you_mean(column, known)}")
    numbers = {name: tensors.number(name, column) for name in names}
    told = {name: value for name, value in numbers.items() if value is not None and not math.isnan(value)}
    return [*sorted(told, key=lambda name: told[name], reverse=down), *(name for name in names if name not in told)]


def _rank(findings: Iterable[Finding]) -> int:
    found = worst(findings)
    return -1 if found is None else SEVERITIES.index(found)
