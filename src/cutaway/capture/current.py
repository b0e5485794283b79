"""The one process-wide current hook and its collections, which the seeds' module-level functions act on.

Everything here can be overridden by calling the same method on a hook. Before a hook exists, `get_collection` and its
siblings act on collections that the next hook takes over.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol

from cutaway.run.leases import RunState
from cutaway.tensors.collection import Collection
from cutaway.tensors.collections import Collections

__all__ = [
    "LiveHook",
    "add_to_collection",
    "add_to_default_collection",
    "del_hook",
    "get_collection",
    "get_collections",
    "get_hook",
    "reset_collections",
]


class LiveHook(Protocol):
    """What the process must be able to do with any of its hooks."""

    @property
    def collections(self) -> Collections:
        """What it saves, by name."""

    def close(self, state: RunState = RunState.FINISHED) -> None:
        """Detach from everything, write what waits and close the run; closing twice is allowed."""

    def abandon(self) -> None:
        """Forget everything without writing: in a forked child the run belongs to the parent."""


class _Current:
    """The state itself: visible, in one place, and empty after a fork."""

    def __init__(self) -> None:
        self.collections = Collections()
        # What is prepared for a hook that is made while another is the current one.
        self.next_collections: Collections | None = None
        # Asked for by name since the first step of the current hook: what is said there comes too late for that one.
        self.asked: set[str] = set()
        self.hook: weakref.ref[LiveHook] | None = None
        self.live: weakref.WeakSet[LiveHook] = weakref.WeakSet()
        self.shared = 0


_current = _Current()


def _forget_hooks_after_fork() -> None:
    """In a forked child the writer thread does not exist: its copies of hooks must not act."""
    for hook in list(_current.live):
        hook.abandon()
    _current.hook = None
    _current.live = weakref.WeakSet()


os.register_at_fork(after_in_child=_forget_hooks_after_fork)


def prepare() -> Collections:
    """Return the collections that the next hook will have; those of the current hook stay its own.

    What was asked for by name when the current hook had begun its first step is meant for the next one: a cell that is
    run again after its training failed says the same once more, and nobody has closed the hook before.
    """
    before = get_hook()
    if before is None or _current.collections is not before.collections:
        return _current.collections
    following = _current.next_collections = _current.next_collections or Collections()
    for name in _current.asked:
        _hand_over(before.collections.get(name), following.get(name))
    _current.asked.clear()
    return following


def _hand_over(old: Collection, new: Collection) -> None:
    new.include(old.include_regex)
    new.add([*old.tensor_names, *old.pending])
    new.save_config = old.save_config if new.save_config is None else new.save_config
    new.reduction_config = old.reduction_config if new.reduction_config is None else new.reduction_config
    new.save_histogram = old.save_histogram


def settle(hook: LiveHook) -> None:
    """Note that a hook begins its first step: from now on nothing changes what it saves."""
    if get_hook() is hook:
        _current.asked.clear()


def adopt(hook: LiveHook, collections: Collections) -> None:
    """Make a hook the current one, with its collections, once nothing can go wrong with it any more."""
    _current.collections, _current.next_collections = collections, None
    _current.hook = weakref.ref(hook)
    _current.asked.clear()
    _current.live.add(hook)


def retire(hook: LiveHook) -> None:
    """Forget a closed hook; what it had configured does not leak into the next one."""
    _current.live.discard(hook)
    if get_hook() is hook:
        _current.hook = None
        _current.collections = Collections()
        _current.asked.clear()


def count_shared() -> int:
    """Number the hooks of this process that all workers of a launch write with; each makes them in the same order."""
    _current.shared += 1
    return _current.shared


def live_hooks() -> list[LiveHook]:
    """Return the hooks of this process that are not closed."""
    return list(_current.live)


def get_hook() -> LiveHook | None:
    """Return the current hook of this process, or None."""
    return _current.hook() if _current.hook is not None else None


def del_hook() -> None:
    """Close the current hook, if there is one, and forget it."""
    hook = get_hook()
    if hook is not None:
        hook.close()


def get_collection(name: str) -> Collection:
    """Return a collection of the current hook, or of the next one, created if it does not exist."""
    _current.asked.add(name)
    return _current.collections.get(name)


def get_collections() -> dict[str, Collection]:
    """Return all collections by name."""
    return {collection.name: collection for collection in _current.collections}


def add_to_collection(name: str, item: object) -> None:
    """Add a tensor's name, a parameter or a module to a collection."""
    get_collection(name).add(item)


def add_to_default_collection(item: object) -> None:
    """Add a tensor's name, a parameter or a module to the collection `default`."""
    get_collection("default").add(item)


def reset_collections() -> None:
    """Forget every custom collection and every change to the others."""
    _current.asked.clear()
    _current.collections.reset()
