"""How tests are dealt to workers, how long Hypothesis looks for a counterexample, and what root may not do."""

from __future__ import annotations

import ctypes
import gc
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

# A machine that is busy with other things is slow: how long an example takes, or making one, says nothing.
UNTIMED: Any = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
# A change is judged by the same examples as the code before it; `make test-all` draws others each time.
hypothesis.settings.register_profile("quick", max_examples=20, derandomize=True, **UNTIMED)
hypothesis.settings.register_profile("full", max_examples=200, **UNTIMED)
hypothesis.settings.load_profile(os.environ.get("CUTAWAY_EXAMPLES", "quick"))

BROWSER = "tests/browser/"
# Pages of trainings and pages of populations: what either kind shows takes its worker a while to make.
OF_POPULATIONS = (
    "test_figures",
    "test_flips",
    "test_insights",
    "test_jobs",
    "test_model",
    "test_paths",
    "test_population",
    "test_sample",
)
# What takes longest begins first, or one worker is left with it at the end. All else is dealt by the number of tests.
LONGEST = (
    BROWSER,
    "tests/docs/test_examples.py",
    "tests/matrix/",
    "tests/faults/",
    "tests/e2e/",
    "tests/frameworks/",
    "tests/contract/",
    "tests/seeds/",
    "tests/unit/studio/",
    "tests/unit/cli/",
    "tests/unit/analysis/",
)

# readline, which pytest loads, tells the workers a width of 80: output is as wide here as in a pipe.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Deal whole files, so that what a file makes is made once; those that need a browser go to two workers."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0]
            if not file.startswith(BROWSER):
                return file
            of_populations = file.removeprefix(BROWSER).startswith(OF_POPULATIONS)
            return BROWSER + ("populations" if of_populations else "trainings")

        def _assign_work_unit(self, node: Any) -> None:
            self.workqueue.move_to_end(min(self.workqueue, key=_place), last=False)
            super()._assign_work_unit(node)

    return ByFile(config, log)


def _place(file: str) -> int:
    return next((place for place, start in enumerate(LONGEST) if file.startswith(start)), len(LONGEST))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to `make test-all` all but one in so many cases of a long table, the first being among those that stay."""
    seen: Counter[str] = Counter()
    for item in items:
        marker = item.get_closest_marker("one_in")
        if marker is None or item.get_closest_marker("slow") is not None:
            continue
        test = item.nodeid.partition("[")[0]
        if seen[test] % marker.args[0]:
            item.add_marker(pytest.mark.slow)
        seen[test] += 1


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Keep what was collected out of garbage collections: it stays to the end, and looking through it takes a while."""
    gc.collect()
    gc.freeze()


# CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH of Linux, and the version of the call that sets them.
PASSES_PERMISSIONS, VERSION = 0b110, 0x20080522


@pytest.fixture
def permissions_count() -> Iterator[None]:
    """Take from root, as whom tests may run, the right to pass permissions: from this thread and what it starts."""
    if os.geteuid() != 0:
        yield
        return
    libc, header, held = ctypes.CDLL(None, use_errno=True), (ctypes.c_uint32 * 2)(VERSION, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, held) == 0
    effective = held[0]
    held[0] = effective & ~PASSES_PERMISSIONS
    assert libc.capset(header, held) == 0
    yield
    held[0] = effective
    assert libc.capset(header, held) == 0


@pytest.fixture(scope="session", autouse=True)
def _writer_may_be_slow() -> Iterator[None]:
    """Wait for the writer of a hook however long: no step is lost because the machine is busy."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("STATISTICS_PATIENCE", "TENSOR_PATIENCE", "FREE_SECONDS"):
            patch.setattr(f"cutaway.capture.patience.{name}", 60.0)
        yield


@pytest.fixture(scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A folder of the tests' own for what studios keep of runs between two starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield
