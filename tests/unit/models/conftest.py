"""The toy format, installed for the tests of models and their processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.models.backend import Arrays
from tests import toy_format

Write = Callable[..., Path]


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a model file of the toy format, which child processes can open."""
    folder = tmp_path / "installed"
    folder.mkdir()
    toy_format.install(folder, monkeypatch)

    def write(**does: Any) -> Path:
        return toy_format.write(tmp_path / "model.toy", **does)

    return write


@pytest.fixture
def batch() -> Arrays:
    """Some rows for the toy model."""
    return {"x": np.random.default_rng(3).normal(size=(6, 4)).astype(np.float32)}
