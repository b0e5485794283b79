"""Every test here needs torch: without it none is collected."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

collect_ignore_glob = ["*"] if importlib.util.find_spec("torch") is None else []


@pytest.fixture(autouse=True)
def _one_thread_and_one_seed() -> Iterator[None]:
    """Make steps quick on a shared machine and their numbers the same each time."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def _runs_go_to_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks without an `out_dir` write under the test's own folder, whatever the environment says."""
    for name in ("CUTAWAY", "USE_SMDEBUG", "CUTAWAY_LOG_LEVEL", "TORNASOLE_LOG_LEVEL", "SMDEBUG_LOG_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CUTAWAY_HOME", str(tmp_path))


@pytest.fixture(scope="session")
def zygote() -> Iterator[Any]:
    """What makes processes that tests may kill."""
    from tests.frameworks.torch.zygote import Zygote

    process = Zygote()
    yield process
    process.close()


@pytest.fixture(autouse=True)
def _no_hook_outlives_its_test() -> Iterator[None]:
    yield
    from cutaway.capture import current

    for hook in current.live_hooks():
        hook.close()
    current.reset_collections()
