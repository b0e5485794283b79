"""Prepares batches ahead in threads, while the model works on earlier ones, and hands them out in their order.

A sample whose encoder does not come back within its time is given up, and its thread is left behind: Python cannot end
a thread. Decides nothing about what a batch holds.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from cutaway.errors import EvaluationError
from cutaway.evaluation.encoding import Encoding, Stopped, Turn, Underway, begin_batch, encode_batch
from cutaway.evaluation.prepared import Prepared

__all__ = ["MOST_LEFT_BEHIND", "Preparing", "Span"]

Span = tuple[str, int, int]

# Threads that never come back hold what they hold: so many are borne, then something is wrong with the whole data set.
MOST_LEFT_BEHIND = 32
# How often a batch that is not ready is looked at.
LOOK_SECONDS = 0.25


@dataclass
class _Job:
    """One batch in the making."""

    underway: Underway
    done: threading.Event = field(default_factory=threading.Event)
    error: BaseException | None = None


class Preparing:
    """Batches of some spans, in their order; `finish` is called on each in the thread that made it."""

    def __init__(
        self,
        encoding: Encoding,
        *,
        workers: int,
        sample_timeout: float,
        finish: Callable[[Prepared], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._encoding = encoding
        self._workers = workers
        self._timeout = sample_timeout
        self._finish = finish
        self._clock = clock
        self._todo: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._left_behind = 0
        for _ in range(workers):
            self._start_thread()

    def batches(self, spans: Iterable[Span]) -> Iterator[Prepared]:
        """Yield the batches of the spans; at most `workers + 1` lie ready ahead."""
        waiting: deque[_Job] = deque()
        ahead = iter(spans)
        while True:
            while len(waiting) <= self._workers and (span := next(ahead, None)) is not None:
                name, start, stop = span
                waiting.append(_Job(begin_batch(self._encoding.dataset.subsets[name], start, stop)))
                self._todo.put(waiting[-1])
            if not waiting:
                return
            yield self._result(waiting.popleft())

    def close(self) -> None:
        """Let the threads end; those that were left behind end with the process."""
        for _ in range(self._workers):
            self._todo.put(None)

    def _result(self, job: _Job) -> Prepared:
        while not job.done.wait(min(LOOK_SECONDS, self._timeout)):
            underway = job.underway
            if underway.since and self._clock() - underway.since > self._timeout:
                self._leave_behind(job)
        if job.error is not None:
            raise job.error
        return job.underway.batch

    def _leave_behind(self, job: _Job) -> None:
        underway = job.underway
        with underway.lock:
            i = underway.at
            if i >= len(underway.batch) or self._clock() - underway.since <= self._timeout:
                return  # it came back at the last moment
            underway.turn += 1
            underway.rows[i] = None
            underway.batch.fail(i, f"its encoders did not come back within {self._timeout:g} s.")
            underway.at, underway.since = i + 1, 0.0
        self._left_behind += 1
        if self._left_behind > MOST_LEFT_BEHIND:
            name = underway.batch.ids[i]
            raise EvaluationError(
                f"{self._left_behind} samples did not come back within {self._timeout:g} s, the last of them {name!r}.",
                hint=(
                    "Their threads cannot be ended, so the evaluation stops; what was done is kept. Mend the "
                    "encoders, or give them more time with `sample_timeout`."
                ),
            )
        self._start_thread(job)

    def _start_thread(self, job: _Job | None = None) -> None:
        threading.Thread(target=self._work, args=(job,), name="cutaway-encoder", daemon=True).start()

    def _work(self, job: _Job | None) -> None:
        """Make one batch after the other, beginning with the one that another thread could not finish."""
        while (job := job or self._todo.get()) is not None:
            try:
                self._make(job)
            except Stopped:
                return
            except BaseException as error:  # noqa: BLE001 - it is raised where the batch is waited for
                job.error = error
            job.done.set()
            job = None

    def _make(self, job: _Job) -> None:
        turn = Turn(job.underway, self._clock)
        batch = encode_batch(self._encoding, job.underway, turn)
        job.underway.since = 0.0
        self._finish(batch)
