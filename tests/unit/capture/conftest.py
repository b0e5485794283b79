"""A framework of arrays: it takes them as they are, so that what every hook does can be tested by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.capture import current
from cutaway.capture.adapter import Worker
from cutaway.capture.front import forwarded
from cutaway.capture.hook import AdaptedHook
from cutaway.capture.records import Offer, StepRecord
from cutaway.capture.requests import Refused
from cutaway.capture.settings import HookSettings
from cutaway.tensors.collections import Collections


class ArrayAdapter:
    """Follows nothing by itself: steps come from `ArrayHook.take`."""

    framework = "arrays"
    versions: Mapping[str, str] = {"numpy": np.__version__}

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.detached = 0
        self.idle_steps: list[int] = []

    def attach(self, hook: AdaptedHook) -> None:
        self.hook = hook

    def resolve(self, collections: Collections) -> None:
        assert not any(collection.pending for collection in collections)

    def complete(self, record: StepRecord) -> None:
        assert record is self.hook.steps.record

    def set_idle(self, steps: int) -> None:
        self.idle_steps.append(steps)

    def set_learning_rate(self, arguments: Mapping[str, Any]) -> str:
        raise Refused(f"there is no optimizer to set {', '.join(arguments)} of")

    def detach(self) -> None:
        self.detached += 1


class ArrayHook:
    """Records the arrays that it is given, one call a step."""

    __exit__ = forwarded(AdaptedHook.__exit__)
    __repr__ = forwarded(AdaptedHook.__repr__)

    def __init__(self, out_dir: Path | None = None, worker: Worker = Worker(), **settings: Any) -> None:  # noqa: B008 - immutable
        self.adapted = AdaptedHook(ArrayAdapter(worker), HookSettings(out_dir=out_dir, **settings), front=self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.adapted, name)

    def __enter__(self) -> ArrayHook:
        return self

    def take(self, **arrays: Any) -> StepRecord | None:
        """Record one step."""
        if not self.adapted.active:
            return None
        record = self.adapted.steps.begin()
        for name, values in arrays.items():
            array = np.asarray(values)
            record.offers.append(Offer(name, array, str(array.dtype)))
        self.adapted.steps.end()
        return record


@pytest.fixture
def array_hook() -> type[ArrayHook]:
    return ArrayHook


@pytest.fixture(autouse=True)
def _own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("CUTAWAY", "USE_SMDEBUG", "CUTAWAY_LOG_LEVEL", "TORNASOLE_LOG_LEVEL", "SMDEBUG_LOG_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CUTAWAY_HOME", str(tmp_path))
    yield
    for hook in current.live_hooks():
        hook.close()
    current.reset_collections()
