"""A hook without a framework: it takes arrays, so that what every hook does can be tested by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.capture import current
from cutaway.capture.hook import BaseHook
from cutaway.capture.records import Offer, StepRecord
from cutaway.capture.settings import HookSettings
from cutaway.capture.workers import Worker


class ArrayHook(BaseHook):
    """Records the arrays that it is given, one call a step."""

    framework = "arrays"

    def __init__(self, out_dir: Path | None = None, worker: Worker = Worker(), **settings: Any) -> None:  # noqa: B008 - immutable
        super().__init__(HookSettings(out_dir=out_dir, **settings), worker, {"numpy": np.__version__})
        self.detached = 0

    def take(self, **arrays: Any) -> StepRecord | None:
        """Record one step."""
        if not self.active:
            return None
        record = self._begin_step()
        for name, values in arrays.items():
            array = np.asarray(values)
            record.offers.append(Offer(name, array, str(array.dtype)))
        self._end_step()
        return record

    def _detach(self) -> None:
        self.detached += 1


@pytest.fixture
def array_hook() -> type[ArrayHook]:
    return ArrayHook


@pytest.fixture(autouse=True)
def _own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("CUTAWAY", "USE_SMDEBUG", "CUTAWAY_LOG_LEVEL", "TORNASOLE_LOG_LEVEL", "SMDEBUG_LOG_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CUTAWAY_HOME", str(tmp_path))
    monkeypatch.setattr("cutaway.capture.hook.STATISTICS_PATIENCE", 60.0)
    monkeypatch.setattr("cutaway.capture.hook.TENSOR_PATIENCE", 60.0)
    yield
    for hook in current.live_hooks():
        hook.close()
    current.reset_collections()
