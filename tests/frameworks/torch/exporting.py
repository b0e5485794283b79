"""Exported files of the small networks, made once."""

from __future__ import annotations

import warnings
from pathlib import Path

import torch
from torch import nn

from tests.frameworks.torch.networks import BATCHES, seeded


def program_of(kind: type[nn.Module], *, fixed: bool = False) -> torch.export.ExportedProgram:
    arguments = tuple(torch.tensor(values) for values in BATCHES[kind].values())
    batch = torch.export.Dim("batch")
    shapes = None if fixed else {name: {0: batch} for name in BATCHES[kind]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says of LSTM that its flat weights are assigned while it is traced
        return torch.export.export(seeded(kind), arguments, dynamic_shapes=shapes)


def exported(kind: type[nn.Module], folder: Path, *, fixed: bool = False) -> Path:
    """The file of a network, written unless it is there."""
    path = folder / f"{kind.__name__}{'-fixed' if fixed else ''}.pt2"
    if not path.exists():
        torch.export.save(program_of(kind, fixed=fixed), str(path))
    return path
