"""Who is alive: each writer of a run renews a lease, and readers tell from it what became of the writer.

A lease is a counter that a reader sees move, never a compared clock. On the same machine the process itself is looked
up, so the answer is there at once; across machines it takes one lease.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from cutaway.errors import RunDamaged, RunFormatError, RunLocked
from cutaway.run.documents import read_document, write_document
from cutaway.run.failure import TrainingFailure
from cutaway.run.layout import LEASES
from cutaway.run.process import is_alive, is_here, this_process
from cutaway.run.segments import WriterId
from cutaway.run.storage import Storage

__all__ = [
    "BEAT_SECONDS",
    "CHIEF",
    "LEASE_SECONDS",
    "Lease",
    "RunState",
    "StateWatch",
    "free_attempt",
    "last_word",
    "lease_key",
    "lease_state",
    "next_lease",
    "read_leases",
    "refuse_live_writer",
    "state_watch",
    "training_states",
]

BEAT_SECONDS = 1.0
LEASE_SECONDS = 5.0
CHIEF = "worker_0"


class RunState(StrEnum):
    """What became of a run, or of one of its writers."""

    STARTING = "starting"  # it is claimed, and nothing of it is ready to be written yet
    RUNNING = "running"
    FINISHED = "finished"  # it was closed
    FAILED = "failed"  # an exception was seen
    ENDED = "ended"  # the process exited without closing it
    LOST = "lost"  # its lease stopped moving, on a machine that we cannot see
    CRASHED = "crashed"  # its process is gone

    @property
    def has_ended(self) -> bool:
        """Whether nobody writes any more, as far as can be seen: neither a training that runs nor one that starts."""
        return self not in _ALIVE


_ALIVE = (RunState.STARTING, RunState.RUNNING)


class Lease:
    """One writer's claim on a role and worker of a run, for one attempt.

    Belongs to the process that made it: in a forked child, beats and releases do nothing.
    """

    def __init__(self, storage: Storage, path: str, writer: WriterId, *, starting: bool = False) -> None:
        self.writer = writer
        self._storage = storage
        self._key = lease_key(writer)
        state = RunState.STARTING if starting else RunState.RUNNING
        self._content: dict[str, Any] = {**writer._asdict(), **this_process(), "beat": 0, "state": state}
        self._process = os.getpid()
        # A beat of the writer thread must not overtake the release of the main thread.
        self._lock = threading.Lock()
        try:
            # Exclusive creation decides between two that start at the same moment.
            write_document(storage, self._key, self._content, durable=False, exclusive=True)
        except FileExistsError:
            raise RunLocked(path, writer.role, writer.worker, "another process that started just now") from None

    def beat(self) -> None:
        """Show that this writer lives; called about every `BEAT_SECONDS`."""
        self._write(beat=self._content["beat"] + 1)

    def show_running(self) -> None:
        """Show that this writer is ready: it no longer starts."""
        self._write(state=RunState.RUNNING)

    def show_paused(self, *, paused: bool) -> None:
        """Show that this writer waits for somebody to let it go on, or that it no longer does."""
        self._write(paused=paused)

    @contextlib.contextmanager
    def kept_alive(self) -> Iterator[None]:
        """Beat from a thread meanwhile: what takes long before the writer thread exists must not look like an end."""
        done = threading.Event()

        def beat() -> None:
            while not done.wait(BEAT_SECONDS):
                with contextlib.suppress(OSError):
                    self.beat()

        thread = threading.Thread(target=beat, name="cutaway-lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def release(self, state: RunState, failure: TrainingFailure | None = None) -> None:
        """Say how it ended, and of a failure with which exception."""
        self._write(state=state, **({} if failure is None else {"error": failure._asdict()}))

    def withdraw(self) -> None:
        """Take the claim back, as if it had never been: nothing was begun with it."""
        self._storage.remove(self._key)

    def _write(self, **changes: Any) -> None:
        if os.getpid() != self._process:
            return
        with self._lock:
            self._content |= changes
            write_document(self._storage, self._key, self._content, durable=False)


def next_lease(
    storage: Storage, path: str, role: str, worker: str = CHIEF, *, least: int = 0, starting: bool = False
) -> Lease:
    """Claim the next attempt of a role and worker, of a number that is at least so large.

    Raises `RunLocked` while another process holds the last one.
    """
    number = free_attempt(storage, path, WriterId(role, worker, least))
    return Lease(storage, path, WriterId(role, worker, number), starting=starting)


def lease_key(writer: WriterId) -> str:
    """Return where the lease of a writer lies."""
    return f"{LEASES}/{writer.stem}.json"


def read_leases(storage: Storage, role: str) -> list[dict[str, Any]]:
    """Return the leases of a role, the newest attempt of each worker only."""
    return _newest(_leases(storage, role))


def free_attempt(storage: Storage, path: str, writer: WriterId) -> int:
    """Return the number of the next attempt, at least the writer's own. Raises `RunLocked` while the last one lives.

    Looks at the leases once: whoever claims an attempt after this look collides with ours, and one of both is refused.
    """
    leases = _leases(storage, writer.role)
    _refuse_live(storage, path, writer.role, writer.worker, _newest(leases))
    return max(writer.attempt, *(int(lease["attempt"]) + 1 for lease in leases), 0)


def refuse_live_writer(storage: Storage, path: str, role: str, worker: str) -> None:
    """Raise `RunLocked` when a live process already writes as this role and worker."""
    _refuse_live(storage, path, role, worker, read_leases(storage, role))


def lease_state(storage: Storage, lease: dict[str, Any], *, sleep: Callable[[float], None] = time.sleep) -> RunState:
    """Say what became of a writer. For one on another machine this waits until its lease moves, at most one lease."""
    watch = StateWatch(storage, [lease])
    _wait([watch], sleep)
    return watch.states[0] or RunState.LOST


def training_states(
    storages: Iterable[Storage], *, role: str = "train", sleep: Callable[[float], None] = time.sleep
) -> list[RunState | None]:
    """Say what became of the training of each run, or of those who wrote in another role; None where nobody did.

    It is that of the newest attempt: running while any worker is, starting while one does, else as its chief ended.
    Trainings on other machines are waited for together, at most one lease for all of them.
    """
    watches = [state_watch(storage, role) for storage in storages]
    _wait(watches, sleep)
    return [watch.verdict() for watch in watches]


def state_watch(storage: Storage, role: str = "train") -> StateWatch:
    """Look at those who wrote the newest attempt of a run in a role, for those who must not wait."""
    return StateWatch(storage, _of_newest_attempt(read_leases(storage, role)))


class StateWatch:
    """The leases of one run while we look whether they move; a state of None is not known yet."""

    def __init__(self, storage: Storage, leases: Sequence[dict[str, Any]]) -> None:
        self._storage = storage
        self._leases = leases
        self.states = [_state_at_once(storage, lease) for lease in leases]

    @property
    def is_decided(self) -> bool:
        """Whether looking again can tell nothing more."""
        return None not in self.states or any(state in _ALIVE for state in self.states)

    @property
    def is_paused(self) -> bool:
        """Whether somebody who writes it said to wait to be let go on."""
        return any(lease.get("paused") is True for lease in self._leases)

    def look_again(self) -> None:
        """See whether the leases that are not decided have moved."""
        for i, lease in enumerate(self._leases):
            if self.states[i] is None:
                now = _read_lease_again(self._storage, lease)
                if now["beat"] != lease["beat"] or now["state"] != lease["state"]:
                    self.states[i] = RunState(now["state"])

    def verdict(self) -> RunState | None:
        """Return the state; what has not moved until now is lost. None where nobody wrote in this role."""
        if not self._leases:
            return None
        if any(state in _ALIVE for state in self.states):
            return RunState.RUNNING if RunState.RUNNING in self.states else RunState.STARTING
        workers = [lease["worker"] for lease in self._leases]
        return self.states[workers.index(CHIEF) if CHIEF in workers else 0] or RunState.LOST


def _wait(watches: Sequence[StateWatch], sleep: Callable[[float], None]) -> None:
    waited = 0.0
    while waited < LEASE_SECONDS and not all(watch.is_decided for watch in watches):
        sleep(BEAT_SECONDS / 2)
        waited += BEAT_SECONDS / 2
        for watch in watches:
            watch.look_again()


def _leases(storage: Storage, role: str) -> list[dict[str, Any]]:
    """Return every lease of a role; one that cannot be read is lost, but its attempt is taken."""
    leases = []
    for name in storage.list(LEASES):
        parts = name.removesuffix(".json").split("-")
        if parts[0] != role or len(parts) != 3 or not parts[2].isdigit():
            continue
        with contextlib.suppress(FileNotFoundError):
            try:
                lease = read_document(storage, f"{LEASES}/{name}")
            except (OSError, RunDamaged, RunFormatError):
                lease = {}
            lost = {"role": role, "worker": parts[1], "attempt": int(parts[2]), "state": RunState.LOST}
            leases.append(lease if _is_lease(lease, lost) else lost)
    return leases


def _is_lease(lease: Mapping[str, Any], writer: Mapping[str, Any]) -> bool:
    """Whether a document is what that writer leaves: a run may come from anybody."""
    same = all(lease.get(key) == writer[key] for key in ("role", "worker", "attempt"))
    return same and isinstance(lease.get("state"), str) and lease["state"] in list(RunState)


def _newest(leases: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    newest: dict[str, dict[str, Any]] = {}
    for lease in leases:
        if lease["attempt"] >= newest.get(lease["worker"], lease)["attempt"]:
            newest[lease["worker"]] = lease
    return [newest[worker] for worker in sorted(newest)]


def _of_newest_attempt(leases: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    last = max((lease["attempt"] for lease in leases), default=0)
    return [lease for lease in leases if lease["attempt"] == last]


def _refuse_live(storage: Storage, path: str, role: str, worker: str, leases: Iterable[dict[str, Any]]) -> None:
    for lease in leases:
        if lease["worker"] == worker and not lease_state(storage, lease).has_ended:
            raise RunLocked(path, role, worker, f"process {lease['pid']} on {lease['host']}")


def _state_at_once(storage: Storage, lease: dict[str, Any]) -> RunState | None:
    """Return a state that needs no waiting: it was released, or its process can be looked up here."""
    state = RunState(lease["state"])
    if state.has_ended or (is_here(lease) and is_alive(lease)):
        return state
    return last_word(storage, lease) if is_here(lease) else None


def last_word(storage: Storage, lease: dict[str, Any]) -> RunState:
    """A process that is gone may have written its end between our two looks."""
    state = RunState(_read_lease_again(storage, lease)["state"])
    return state if state.has_ended else RunState.CRASHED


def _read_lease_again(storage: Storage, lease: dict[str, Any]) -> dict[str, Any]:
    key = f"{LEASES}/{lease['role']}-{lease['worker']}-{lease['attempt']}.json"
    try:
        now = read_document(storage, key)
    except (OSError, RunDamaged, RunFormatError):
        return lease
    return now if _is_lease(now, lease) else lease
