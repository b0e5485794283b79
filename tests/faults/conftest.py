"""How often faults are tried, and where processes to kill come from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutaway.run import Run
from tests.nursery import Nursery


@pytest.fixture(scope="session")
def kills() -> int:
    """How many processes to kill; `make test-all` and `make test-faults` ask for more than `make test`."""
    return int(os.environ.get("CUTAWAY_KILLS", "5"))


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    with Nursery() as nursery:
        yield nursery


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = Run.create(tmp_path / "run")
    run.write_document("trace/collections.json", {"weights": {"include_regex": ["weight$"]}})
    return run
