"""The tensors of a run as rows: where each is in the model, how it was at its last step, what was found about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from cutaway.errors import ConfigurationError, ShapeUnavailableForStep, TensorUnavailable, did_you_mean
from cutaway.run.findings import SEVERITIES, Finding, worst_severity
from cutaway.studio.findings import finding_row
from cutaway.studio.wire.base import Page
from cutaway.studio.wire.tensors import TensorDetail, TensorRow
from cutaway.trial.model_tensors import ModelTensors
from cutaway.trial.tensor_kinds import kind_of
from cutaway.trial.trial import Trial

__all__ = ["tensor_detail", "tensor_page"]

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
