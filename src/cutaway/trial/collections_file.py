"""The collections that a run's hook wrote down, read back."""

from __future__ import annotations

import time
from collections.abc import Callable

from cutaway.errors import MissingCollectionFiles, RunDamaged
from cutaway.run.identity import Run
from cutaway.run.layout import TRACE
from cutaway.run.schemas import STEPS
from cutaway.run.tables import Damage
from cutaway.tensors.collections import Collections
from cutaway.trial.liveness import Liveness

__all__ = ["collections_of", "read_collections", "wait_for_collections"]

POLL_SECONDS = 0.05


def read_collections(run: Run) -> tuple[Collections | None, list[Damage]]:
    """Return the collections of all workers together, None where none were written, and what of them is damaged."""
    found: Collections | None = None
    damage = []
    for key in _documents(run):
        try:
            content = run.document(key) or {}
        except RunDamaged as error:
            damage.append(Damage(key, 0, None, f"{error.reason}; the default collections are used"))
            continue
        try:
            own = Collections.from_dict(content.get("collections", content))
        except (AttributeError, TypeError, ValueError) as error:
            damage.append(Damage(key, 0, None, f"it holds no collections ({error}); the default collections are used"))
            continue
        if found is None:
            found = own
        for collection in own:
            whole = found.get(collection.name)
            whole.include(collection.include_regex)
            whole.tensor_names |= collection.tensor_names
    return (Collections() if found is None and damage else found), damage


def collections_of(run: Run) -> Collections:
    """Return the collections of a run; the ones that always exist where it wrote none, or they are damaged."""
    return read_collections(run)[0] or Collections()


def wait_for_collections(run: Run, sleep: Callable[[float], None] = time.sleep) -> None:
    """Wait until a run that is just starting has said which collections it has, as long as it lives.

    Raises `MissingCollectionFiles` where it ended without: then it has no tensors either.
    """
    if _documents(run):
        return
    liveness = Liveness(run)
    while True:
        state = liveness.look()  # before the look for the file: what an ended training has not written never comes
        if _documents(run):
            return
        if state is None or state.has_ended:
            break
        sleep(POLL_SECONDS)
    if not run.table(STEPS).poll():
        raise MissingCollectionFiles(run.name)


def _documents(run: Run) -> list[str]:
    names = run.storage.list(TRACE)
    return [f"{TRACE}/{name}" for name in names if name.startswith("collections") and name.endswith(".json")]
