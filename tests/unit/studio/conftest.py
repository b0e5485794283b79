"""An evaluated run that every test may change, and a studio over it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.studio.evaluated import evaluated_run
from tests.unit.studio.one_run import Asked, studio_of


@pytest.fixture(scope="session")
def evaluated_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a real evaluation. Nobody changes it."""
    return evaluated_run(tmp_path_factory.mktemp("evaluated"))


@pytest.fixture(scope="module")
def made(evaluated_once: Path) -> Path:
    """The run that each test of a file begins with; a file that needs more of it makes its own."""
    return evaluated_once


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    """A copy of the run, alone in its folder."""
    return Path(shutil.copytree(made, tmp_path / "runs" / "insects"))


@pytest.fixture
def asked(run: Path) -> Iterator[Asked]:
    """A studio over the copy."""
    with studio_of(run.parent) as studio:
        yield studio
