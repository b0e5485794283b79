"""Archives of torch.export with something done to them."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

Members = dict[str, bytes]
Program = dict[str, Any]

WEIGHTS = "data/weights/model_weights_config.json"
CONSTANTS = "data/constants/model_constants_config.json"
PROGRAM = "models/model.json"


class Touches:
    """Whoever unpickles this makes a folder."""

    def __init__(self, marker: Path) -> None:
        self.marker = str(marker)

    def __reduce__(self) -> tuple[Any, ...]:
        import os

        return os.mkdir, (self.marker,)


def members_of(path: Path) -> Members:
    with zipfile.ZipFile(path) as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def write(path: Path, members: Members, root: str = "model") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(f"{root}/{name}", data)
    return path


def edit(members: Members, member: str, change: Callable[[Any], None]) -> None:
    """Change a JSON member in place."""
    document = json.loads(members[member])
    change(document)
    members[member] = json.dumps(document).encode()


def saved(value: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


def pickled(value: Any) -> bytes:
    return pickle.dumps(value)


def graph_of(program: Program) -> dict[str, Any]:
    graph: dict[str, Any] = program["graph_module"]["graph"]
    return graph


def call(target: str, *arguments: dict[str, Any], result: str = "evil") -> dict[str, Any]:
    """A node that calls something."""
    inputs = [{"name": f"a{i}", "arg": argument, "kind": 1} for i, argument in enumerate(arguments)]
    return {
        "target": target,
        "inputs": inputs,
        "outputs": [{"as_tensor": {"name": result}}],
        "metadata": {},
        "is_hop_single_tensor_return": None,
        "name": result,
    }
