"""What a cell of the model matrix is measured by, and the page that the whole of it becomes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.models.backend import Backend
from cutaway.models.model import Model

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "model-formats.md"
WRITE = "CUTAWAY_WRITE_MATRIX"
CLOSE, CLOSE_GRADIENT = 1e-5, 1e-4
SIZES = (2, 5)


def relative_error(got: np.ndarray, wanted: np.ndarray) -> float:
    """max|a-b| / max|a|, a being what the source framework says."""
    assert got.shape == wanted.shape
    return float(np.abs(got.astype(np.float64) - wanted).max() / np.abs(wanted).max())


def varies(values: np.ndarray) -> bool:
    """Whether every sample's values differ from every other's: an answer that is the same for all proves nothing."""
    rows = values.reshape(len(values), -1)
    scale = np.abs(rows).max()
    return all(np.abs(rows[i] - rows[j]).max() > 1e-3 * scale for i in range(len(rows)) for j in range(i))


@dataclass
class Cell:
    """One architecture in one format: what was found to work."""

    predictions: bool = False
    layers: bool = False
    latent: bool = False
    gradients: bool = False

    @property
    def mark(self) -> str:
        parts = [
            (self.predictions, "outputs"),
            (self.layers, "layers"),
            (self.latent, "latent"),
            (self.gradients, "gradients"),
        ]
        if all(works for works, _ in parts):
            return "all"
        return ", ".join(word for works, word in parts if works) or "no"


@dataclass(frozen=True)
class Source:
    """What the source framework itself says of a network: the judge of every cell of its row."""

    batch: Callable[[int], Mapping[str, np.ndarray]]
    answers: Callable[[Mapping[str, np.ndarray]], Sequence[np.ndarray]]
    gradient: Callable[[Mapping[str, np.ndarray]], np.ndarray]


def measure(backend: Backend, source: Source) -> Cell:
    """Compare a format with its source; what is wrong raises, and so does a network whose answers do not vary."""
    cell = Cell()
    model = Model(backend)
    for rows in SIZES:
        batch = dict(source.batch(rows))
        named = _by_input(model, batch)
        wanted = source.answers(batch)
        got = list(model.predict(named).values())
        for theirs, ours in zip(wanted, got, strict=True):
            assert varies(theirs)
            assert relative_error(ours, theirs) <= CLOSE
        cell.predictions = True
        values = model.activations(named, [layer.name for layer in model.layers])
        cell.layers = len(values) >= 2 and all(len(one) == rows for one in values.values())
        cell.latent = varies(model.latent(named))
        if not model.description.differentiable:
            theirs = source.gradient(batch)
            assert varies(theirs)
            first = next(iter(batch))
            wrt = first if first in named else "input"
            assert relative_error(model.gradient(named, wrt=wrt).gradient, theirs) <= CLOSE_GRADIENT
            cell.gradients = True
    return cell


def _by_input(model: Model, batch: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """A SavedModel has its inputs in the order of their names; a `Sequential` of torch calls its one input `input`."""
    names = [spec.name for spec in model.inputs]
    if set(names) == set(batch):
        return dict(batch)
    return dict(zip(names, batch.values(), strict=True))


def cells(names: Iterable[str], formats: Sequence[str], whole: str) -> list[Any]:
    """Every architecture in every format. `make test` tries a diagonal, which has each of both, and one whole row."""
    return [
        pytest.param(name, kind, marks=[] if name == whole or kind == formats[row % len(formats)] else pytest.mark.slow)
        for row, name in enumerate(names)
        for kind in formats
    ]


@dataclass
class Matrix:
    """The table of one source framework: architectures down, formats across."""

    title: str
    formats: Sequence[str]
    cells: dict[tuple[str, str], str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        names = list(dict.fromkeys(name for name, _ in self.cells))
        rows = [
            f"| {name} | " + " | ".join(self.cells.get((name, one), "") for one in self.formats) + " |"
            for name in names
        ]
        return [f"| {self.title} | " + " | ".join(self.formats) + " |", "|---" * (len(self.formats) + 1) + "|", *rows]

    def check_cell(self, name: str, kind: str, mark: str) -> None:
        """Keep what was found of one cell, and compare it with the page."""
        self.cells[name, kind] = mark
        if not os.environ.get(WRITE):
            table = PAGE.read_text(encoding="utf-8").partition(f"<!-- {self.title}: begin -->")[2]
            row = next(line for line in table.splitlines() if line.startswith(f"| {name} |"))
            assert row.split(" | ")[1 + self.formats.index(kind)].removesuffix(" |") == mark

    def check_page(self) -> None:
        """Compare with the page, or write this table into it where that was asked for."""
        begin, end = f"<!-- {self.title}: begin -->", f"<!-- {self.title}: end -->"
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(begin)
        there, _, after = rest.partition(end)
        table = "\n" + "\n".join(self.lines()) + "\n"
        if os.environ.get(WRITE):
            PAGE.write_text(before + begin + table + end + after, encoding="utf-8")
            return
        assert there == table, f"{PAGE.name} is not what the tests found: {WRITE}=1 pytest tests/matrix writes it"
