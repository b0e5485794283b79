"""The tensors of a run as rows, and its layers: a tree, as the names of the tensors tell, and how each part does."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from cutaway.errors import ConfigurationError, ShapeUnavailableForStep, TensorUnavailable, did_you_mean
from cutaway.run.findings import SEVERITIES, Finding, worst_severity
from cutaway.studio.findings import finding_row
from cutaway.studio.wire.base import Page
from cutaway.studio.wire.life import LayerRow, TensorDetail, TensorRow
from cutaway.trial.model_order import place_of
from cutaway.trial.model_tensors import ModelTensors, zero_share
from cutaway.trial.overview import TensorSummary
from cutaway.trial.tensor_kinds import Kind, kind_of
from cutaway.trial.trial import Trial

__all__ = ["findings_of_layer", "layer_rows", "tensor_detail", "tensor_page"]

# More steps than a page can list.
MOST_SAVED = 10_000
MOST_FINDINGS = 1000


def tensor_page(
    trial: Trial, *, collection: str = "", search: str = "", sort: str = "name", offset: int = 0, limit: int = 100
) -> Page[TensorRow]:
    """Return some of the tensors of a run, sorted; what has no value in the column comes last."""
    tensors = ModelTensors(trial)
    names = _sorted(tensors, tensors.matching(collection, search), sort)
    rows = [TensorRow(**tensors.facts(name)._asdict()) for name in names[offset : offset + limit]]
    return Page(data=rows, total=len(names), offset=offset, limit=limit)


def tensor_detail(trial: Trial, name: str) -> TensorDetail:
    """Return one tensor with the steps at which it was saved in full. Raises `TensorUnavailable`."""
    tensors = ModelTensors(trial)
    if name not in tensors.states and name not in tensors.saved:
        raise TensorUnavailable(name, trial.name, tensors.names)
    saved = tensors.saved_steps(name)
    shape, dtype = _form(trial, name, saved[-1]) if saved else (None, None)
    return TensorDetail(
        tensor=TensorRow(**tensors.facts(name)._asdict()),
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
    numbered = [one for one in TensorRow.model_fields if one not in texts and one != "collections"]
    if column not in numbered:
        known = ("model", *texts, *numbered)
        raise ConfigurationError(f"Tensors cannot be sorted by {column!r}.", hint=did_you_mean(column, known))
    numbers = {name: tensors.number(name, column) for name in names}
    told = {name: value for name, value in numbers.items() if value is not None and not math.isnan(value)}
    return [*sorted(told, key=lambda name: told[name], reverse=down), *(name for name in names if name not in told)]


def _rank(findings: Iterable[Finding]) -> int:
    found = worst_severity(findings)
    return -1 if found is None else SEVERITIES.index(found)


# What a loss receives and returns belongs to no layer of the model, and neither does what an optimizer keeps.
_NOT_OF_MODEL = frozenset({"losses", "labels", "predictions", "metrics", "optimizer_variables"})
_PARAMETERS: tuple[Kind, ...] = ("weight", "bias")


@dataclass
class _LayerSums:
    """What the tensors of a layer, or of a part of the model, come to."""

    parameters: int = 0
    weight: list[float] = field(default_factory=list)
    gradient: list[float] = field(default_factory=list)
    changed: list[tuple[float, float]] = field(default_factory=list)
    zeros: list[float] = field(default_factory=list)
    nonfinite: int = 0
    findings: dict[str, Finding] = field(default_factory=dict)

    def add(self, state: TensorSummary | None, kind: Kind, findings: Iterable[Finding]) -> None:
        self.findings |= {one.id: one for one in findings}
        if state is None:
            return
        norm, change, zeros = state.last["l2"], state.last["change"], zero_share(state)
        self.nonfinite += int(state.last["nonfinite"])
        if kind in _PARAMETERS:
            self.parameters += state.size
        if state.last["nonfinite"] >= state.size:
            # Nothing of it is finite: a norm over nothing would read as zero.
            return
        if kind == "weight":
            self.weight.append(norm)
            if not math.isnan(change):
                self.changed.append((change, norm))
        elif kind == "gradient":
            self.gradient.append(norm)
        elif kind == "output" and zeros is not None:
            self.zeros.append(zeros)

    @property
    def update_ratio(self) -> float | None:
        norm = _norm([norm for _, norm in self.changed])
        change = _norm([change for change, _ in self.changed])
        return change / norm if change is not None and norm else None


def layer_rows(trial: Trial) -> list[LayerRow]:
    """Return the layers in the order of the model, each part before what is in it; a part sums up what it holds."""
    tensors = ModelTensors(trial)
    own: dict[str, list[str]] = {}
    known, places = tensors.order.places(), dict[str, float]()
    sums: dict[str, _LayerSums] = {}
    for name in tensors.names:
        collections = tensors.collections(name)
        if _NOT_OF_MODEL & set(collections):
            continue
        kind, layer = kind_of(name, collections), tensors.layer(name)
        own.setdefault(layer, []).append(name)
        for place in (layer, *_parents(layer)):
            sums.setdefault(place, _LayerSums()).add(tensors.states.get(name), kind, tensors.findings.get(name, ()))
            # A part that is no layer itself, such as a list, stands where the first of its layers does.
            places[place] = min(places.get(place, math.inf), place_of(layer, known))
    children: dict[str | None, list[str]] = {}
    for layer in sorted(sums, key=places.__getitem__):
        children.setdefault(next(_parents(layer), None), []).append(layer)
    return [_layer_row(layer, sums[layer], own.get(layer, [])) for layer in _in_order(children, numbered=not known)]


def findings_of_layer(trial: Trial, layer: str) -> set[str]:
    """Return the ids of the findings that `layer_rows` counts for a layer: those that name a tensor of it, or in it."""
    tensors = ModelTensors(trial)
    return {
        one.id
        for name in tensors.names
        if not _NOT_OF_MODEL & set(tensors.collections(name)) and layer in (own := tensors.layer(name), *_parents(own))
        for one in tensors.findings.get(name, ())
    }


def _layer_row(layer: str, sums: _LayerSums, tensors: list[str]) -> LayerRow:
    parents = list(_parents(layer))
    return LayerRow(
        name=layer,
        depth=len(parents),
        parent=parents[0] if parents else None,
        parameters=sums.parameters,
        tensors=tensors,
        weight=_norm(sums.weight),
        gradient=_norm(sums.gradient),
        update_ratio=sums.update_ratio,
        zeros=max(sums.zeros, default=None),
        nonfinite=sums.nonfinite,
        findings=len(sums.findings),
        severity=worst_severity(sums.findings.values()),
    )


def _parents(layer: str) -> Iterator[str]:
    """Yield the parts that a layer lies in, the nearest first."""
    for found in reversed(list(re.finditer(r"[./]", layer))):
        if found.start():
            yield layer[: found.start()]


def _in_order(children: dict[str | None, list[str]], *, numbered: bool) -> Iterator[str]:
    """Walk the tree without recursion: a name of a stranger may have more parts than Python can go down."""
    waiting = _siblings(children, None, numbered=numbered)
    while waiting:
        layer = waiting.pop()
        yield layer
        waiting += _siblings(children, layer, numbered=numbered)


def _siblings(children: dict[str | None, list[str]], parent: str | None, *, numbered: bool) -> list[str]:
    """Return what lies in a part, the last first; where no forward was seen, `numbered` ones by their numbers: an
    activation between two layers has no parameters, and is named after all that have."""
    found = children.get(parent, [])
    last = [re.split(r"[./]", name)[-1] for name in found]
    if numbered and all(part.isdecimal() and len(part) < 10 for part in last):
        found = [name for _, name in sorted(zip(map(int, last), found, strict=True))]
    return found[::-1]


def _norm(parts: list[float]) -> float | None:
    return math.hypot(*parts) if parts else None
