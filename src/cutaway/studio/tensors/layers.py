"""The layers of a model as the names of its tensors tell: a tree, and how each part of it does."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cutaway.run.findings import Finding, worst_severity
from cutaway.studio.wire.tensors import LayerRow
from cutaway.trial.model_tensors import ModelTensors, zero_share
from cutaway.trial.overview import TensorSummary
from cutaway.trial.tensor_kinds import Kind, kind_of
from cutaway.trial.trial import Trial

__all__ = ["findings_of_layer", "layer_rows"]

# What a loss receives and returns belongs to no layer of the model.
_NOT_OF_MODEL = frozenset({"losses", "labels", "predictions", "metrics"})
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
    sums: dict[str, _LayerSums] = {}
    for name in tensors.names:
        collections = tensors.collections(name)
        if _NOT_OF_MODEL & set(collections):
            continue
        kind, layer = kind_of(name, collections), tensors.layer(name)
        own.setdefault(layer, []).append(name)
        for place in (layer, *_parents(layer)):
            sums.setdefault(place, _LayerSums()).add(tensors.states.get(name), kind, tensors.findings.get(name, ()))
    children: dict[str | None, list[str]] = {}
    for layer in sums:
        children.setdefault(next(_parents(layer), None), []).append(layer)
    return [_layer_row(layer, sums[layer], own.get(layer, [])) for layer in _in_order(children)]


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


def _in_order(children: dict[str | None, list[str]]) -> Iterator[str]:
    """Walk the tree without recursion: a name of a stranger may have more parts than Python can go down."""
    waiting = _siblings(children, None)
    while waiting:
        layer = waiting.pop()
        yield layer
        waiting += _siblings(children, layer)


def _siblings(children: dict[str | None, list[str]], parent: str | None) -> list[str]:
    """Return what lies in a part, the last first. Numbered ones go by their numbers: an activation between two layers
    has no parameters, and is named after all that have."""
    found = children.get(parent, [])
    last = [re.split(r"[./]", name)[-1] for name in found]
    if all(part.isdecimal() and len(part) < 10 for part in last):
        found = [name for _, name in sorted(zip(map(int, last), found, strict=True))]
    return found[::-1]


def _norm(parts: list[float]) -> float | None:
    return math.hypot(*parts) if parts else None
