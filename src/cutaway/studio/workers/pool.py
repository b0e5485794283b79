"""`Workers`: finds the worker of an evaluation, starts it, lets one question at a time through, and ends it in time.

Each evaluation has two lanes, a process each: `latents`, which runs no users' code, and `model`, which opens the
binding and the model. So what only compares vectors never waits for a model, nor dies with one.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from cutaway.errors import CutawayError
from cutaway.run.evaluations import Evaluation
from cutaway.run.identity import Run
from cutaway.run.layout import SOURCE_FILE
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.workers.process import WorkerAnswer, WorkerProcess

__all__ = ["Lane", "State", "Workers"]

Lane = Literal["latents", "model"]
# Of each lane; a model with its framework takes a gigabyte.
MOST_ALIVE = 2
IDLE_SECONDS = 600.0
# For importing frameworks and a binding, loading its data, and opening a model.
OPEN_SECONDS = 180.0
ANSWER_SECONDS = 60.0
# Whoever waits, waits as long as the question before may take: the picture of a sample comes after its heat map.
WAIT_SECONDS = ANSWER_SECONDS
# What could not be opened is not tried again at every click.
RETRY_SECONDS = 5.0
# What opens each lane, step by step; between two steps others get their turn.
_OPENING: dict[Lane, tuple[str, ...]] = {"latents": ("ready",), "model": ("bind", "open")}
# What needs no model, and so does not say that there is one.
_BEFORE = ("bind", "visuals")
_BREATH = 0.02
_READ_ONLY = "This studio is read-only: it runs no binding and opens no model."
_READ_ONLY_HINT = "Start it without `--read-only` where the runs and their bindings are trusted."


class State(NamedTuple):
    """How the model of an evaluation is: off, starting, ready or unavailable, why, and how long opening took."""

    state: Literal["off", "starting", "ready", "unavailable"]
    reason: str = ""
    seconds: float | None = None


class _Key(NamedTuple):
    path: str
    run: str
    evaluation: int
    # Tells an evaluation from another that came to the same place.
    stamp: tuple[int, int]
    lane: Lane


@dataclass
class _WorkerPlace:
    """A worker's place: the process once it was started, and the lock of whoever asks."""

    key: _Key
    lock: threading.Lock = field(default_factory=threading.Lock)
    process: WorkerProcess | None = None
    used: float = field(default_factory=time.monotonic)
    began: float = 0.0
    opening: bool = False
    state: State = field(default_factory=lambda: State("off"))
    failed: float = 0.0

    @property
    def opening_seconds(self) -> float:
        """How much longer than others the first answer may take."""
        return 0.0 if self.state.state == "ready" else OPEN_SECONDS

    def end(self) -> None:
        """End the process; the next question starts another."""
        process, self.process = self.process, None
        if process is not None:
            process.end()


class Workers:
    """Answers questions about evaluations in processes of their own. Safe for threads."""

    def __init__(
        self,
        run_of: Callable[[str], Run],
        *,
        read_only: bool = False,
        most: int = MOST_ALIVE,
        idle_seconds: float = IDLE_SECONDS,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._run_of = run_of
        self.read_only = read_only
        self._most = most
        self._idle_seconds = idle_seconds
        self._wait_seconds = wait_seconds
        self._guard = threading.Lock()
        self._starting = threading.Lock()
        self._workers: OrderedDict[_Key, _WorkerPlace] = OrderedDict()
        self._closed = threading.Event()
        self._sweeper: threading.Thread | None = None

    def ask(
        self,
        run_id: str,
        evaluation: int | None,
        question: str,
        arguments: dict[str, Any],
        *,
        lane: Lane = "model",
        seconds: float = ANSWER_SECONDS,
    ) -> WorkerAnswer:
        """Ask the worker of an evaluation, the last finished one by default, which is started where there is none.

        Raises what the worker met. A refusal says that it is busy, too slow (it is ended then), or that it crashed.
        """
        worker = self._find(run_id, evaluation, lane)
        return self._ask(worker, question, arguments, seconds, self._wait_seconds)

    def start(self, run_id: str, evaluation: int | None) -> State:
        """Begin to open the vectors and the model of an evaluation, and say how the model is, without waiting."""
        self._begin(self._find(run_id, evaluation, "latents"))
        if not self.read_only:
            self._begin(self._find(run_id, evaluation, "model"))
        return self.state(run_id, evaluation)

    def state(self, run_id: str, evaluation: int | None) -> State:
        """Say how the model of an evaluation is, and start nothing."""
        if self.read_only:
            return State("unavailable", f"{_READ_ONLY} {_READ_ONLY_HINT}")
        worker = self._find(run_id, evaluation, "model")
        doing = worker.process.doing if worker.process is not None else ""
        return worker.state._replace(reason=doing) if doing else worker.state

    def close(self) -> None:
        """End all of them; questions that wait are refused. Closing twice is allowed."""
        self._closed.set()
        with self._guard:
            workers = list(self._workers.values())
            self._workers.clear()
        for one in workers:
            # Whoever waits for its answer sees it end, and closes it.
            process = one.process
            if process is not None:
                process.kill()
        for one in workers:
            if one.lock.acquire(timeout=5):
                try:
                    one.end()
                finally:
                    one.lock.release()

    def _begin(self, worker: _WorkerPlace) -> None:
        """Ask for what opens a worker in the background, once."""
        with self._guard:
            failed = worker.state.state == "unavailable" and time.monotonic() - worker.failed < RETRY_SECONDS
            if self._closed.is_set() or failed or worker.opening or worker.state.state == "ready":
                return
            worker.opening, worker.state = True, State("starting")

        def begin() -> None:
            try:
                # What went wrong is kept as its state, for whoever asks next.
                with suppress(CutawayError, Refusal):
                    for question in _OPENING[worker.key.lane]:
                        self._ask(worker, question, {}, OPEN_SECONDS, OPEN_SECONDS)
                        time.sleep(_BREATH)
            finally:
                worker.opening = False

        threading.Thread(target=begin, name=f"open {worker.key.lane}", daemon=True).start()

    def _ask(
        self, worker: _WorkerPlace, question: str, arguments: dict[str, Any], seconds: float, patience: float
    ) -> WorkerAnswer:
        with self._turn(worker, patience):
            try:
                answer = self._answer(worker, question, arguments, seconds)
            except (CutawayError, Refusal) as error:
                self._failed(worker, question, error)
                raise
            if worker.state.state != "ready" and question not in _BEFORE:
                worker.state = State("ready", seconds=time.monotonic() - worker.began)
            return answer

    def _answer(self, worker: _WorkerPlace, question: str, arguments: dict[str, Any], seconds: float) -> WorkerAnswer:
        process = worker.process
        if process is not None and process.lives:
            try:
                return process.ask(question, arguments, seconds + worker.opening_seconds)
            except Refusal as refusal:
                if refusal.code != "worker-ended" or process.heard or self._closed.is_set():
                    raise
                # It was gone before it heard of this: nobody asked it for what ended it.
        worker.end()
        # Together: of many that start in one moment each would find that there is room.
        with self._starting:
            self._make_room(worker)
            worker.state, worker.began = State("starting"), time.monotonic()
            worker.process = WorkerProcess(worker.key.lane, worker.key.path, worker.key.evaluation)
        return worker.process.ask(question, arguments, seconds + worker.opening_seconds)

    def _failed(self, worker: _WorkerPlace, question: str, error: CutawayError | Refusal) -> None:
        gone = worker.process is None or not worker.process.lives
        if gone or question in _OPENING[worker.key.lane]:
            # What half of a binding left behind is no ground to try again on.
            worker.end()
            worker.failed = time.monotonic()
            worker.state = State("unavailable", error.error if isinstance(error, Refusal) else str(error))
        elif worker.state.state == "starting" and not worker.opening:
            worker.state = State("off")

    @contextmanager
    def _turn(self, worker: _WorkerPlace, patience: float) -> Iterator[None]:
        if not worker.lock.acquire(timeout=patience):
            doing = worker.process.doing if worker.process is not None else ""
            error = f"This run is busy with another question{f' ({doing})' if doing else ''}."
            raise Refusal(503, "busy", error, "Ask again in a moment.")
        try:
            if self._closed.is_set():
                raise Refusal(503, "closing", "The studio is closing.")
            yield
        finally:
            worker.used = time.monotonic()
            if self._closed.is_set():
                worker.end()
            worker.lock.release()

    def _find(self, run_id: str, evaluation: int | None, lane: Lane) -> _WorkerPlace:
        if lane == "model" and self.read_only:
            raise Refusal(403, "read-only", _READ_ONLY, _READ_ONLY_HINT)
        from cutaway.run.evaluated import chosen_evaluation  # it takes long to import

        run = self._run_of(run_id)
        # Whether a numbered one is finished and whole its worker looks at itself, once.
        found = chosen_evaluation(run) if evaluation is None else Evaluation(run, evaluation)
        there = (found.path / SOURCE_FILE).stat()
        key = _Key(str(run.path), run.id, found.number, (there.st_ino, there.st_mtime_ns), lane)
        with self._guard:
            worker = self._workers.setdefault(key, _WorkerPlace(key))
            self._workers.move_to_end(key)
            if self._sweeper is None and not self._closed.is_set():
                self._sweeper = threading.Thread(target=self._sweep, name="idle workers", daemon=True)
                self._sweeper.start()
        return worker

    def _make_room(self, wanted: _WorkerPlace) -> None:
        """End the least used worker of a lane where there are as many as may be; refused while all are busy."""
        with self._guard:
            alive = [
                one
                for one in self._workers.values()
                if one is not wanted and one.key.lane == wanted.key.lane and one.process is not None
            ]
        for one in alive[: max(0, len(alive) - self._most + 1)]:
            if not self._let_go(one):
                error = f"{len(alive)} runs are being asked right now."
                raise Refusal(503, "busy", error, "Ask again in a moment.")

    def _let_go(self, worker: _WorkerPlace) -> bool:
        if not worker.lock.acquire(blocking=False):
            return False
        try:
            worker.end()
            worker.state = State("off")
        finally:
            worker.lock.release()
        with self._guard:
            self._workers.pop(worker.key, None)
        return True

    def _sweep(self) -> None:
        while not self._closed.wait(min(self._idle_seconds / 4, 15.0)):
            with self._guard:
                now = time.monotonic()
                idle = [one for one in self._workers.values() if now - one.used > self._idle_seconds]
            for one in idle:
                self._let_go(one)
