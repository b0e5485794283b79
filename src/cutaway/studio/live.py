"""What is live: looks about once a second at what somebody watches, and tells all who watch it what has changed.

An event says that something has changed, never what it is now: whoever cares asks for it. So only the newest event of
each kind is kept, a slow listener gets many changes as one, and memory does not grow with time or listeners. Nothing is
looked at that nobody watches.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from cutaway.errors import ConfigurationError, CutawayError
from cutaway.run.pulse import ASPECTS, Pulse
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.index.the_index import RunIndex
from cutaway.studio.jobs.the_jobs import Jobs
from cutaway.studio.wire.base import State
from cutaway.studio.wire.live import Event, What

__all__ = ["JOBS", "MOST_STREAMS", "RUNS", "Feed", "Listener"]

_logger = logging.getLogger("cutaway.studio")

RUNS = "runs"
JOBS = "jobs"
MOST_STREAMS = 100
MOST_TOPICS = 1000
# Beyond so many events about single runs, one that says "all of them" takes their place.
MOST_EVENTS = 1000
# Who polls is taken to be there so long after asking.
POLLED_SECONDS = 30.0
LOOK_SECONDS = 0.8


@dataclass
class _Topic:
    """Something that is watched: who watches, how it is looked at, and the newest event of each kind."""

    look: Callable[[], list[Event]]
    everything: list[Event]
    began: int
    listeners: int = 0
    polled: float = 0.0
    newest: dict[tuple[str, str | None], tuple[int, Event]] = field(default_factory=dict)

    def add(self, sequence: int, event: Event) -> None:
        if len(self.newest) >= MOST_EVENTS:
            self.newest.clear()
            event = self.everything[0]
        self.newest[event.what, event.run] = (sequence, event)

    def after(self, sequence: int | None) -> list[tuple[int, Event]]:
        """Return what came after a place in the sequence; all there can be, where that is before we watched."""
        if sequence is None or sequence < self.began:
            return [(self.began, event) for event in self.everything]
        return [item for item in self.newest.values() if item[0] > sequence]


class Feed:
    """Watches for all listeners together. Safe to use from any thread; looks from a thread of its own."""

    def __init__(
        self,
        index: RunIndex,
        jobs: Jobs,
        *,
        seconds: float = LOOK_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._index = index
        self._jobs = jobs
        self._seconds = seconds
        self._clock = clock
        self._name = secrets.token_hex(4)
        self._lock = threading.Lock()
        self._sequence = 0
        self._topics: dict[str, _Topic] = {}
        self._listeners: set[Listener] = set()
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()

    @property
    def is_closed(self) -> bool:
        """Whether nothing will be told any more."""
        return self._ended.is_set()

    def listen(self, topics: Sequence[str], token: str, wake: Callable[[], None]) -> Listener:
        """Watch topics until the listener is closed; `wake` is called, from another thread, when something is new.

        With the token of an earlier listener it goes on where that one was.
        """
        wanted = list(dict.fromkeys(topics))
        self._watch(wanted)
        listener = Listener(self, wanted, wake)
        with self._lock:
            if len(self._listeners) >= MOST_STREAMS:
                error = f"{MOST_STREAMS} streams are open, which is as many as there may be."
                raise Refusal(503, "too-many-streams", error, "Close other tabs, or poll `GET api/changes`.")
            self._listeners.add(listener)
            for topic in wanted:
                self._topics[topic].listeners += 1
            listener.position = self._sequence if not token else self._position(token)
        return listener

    def forget(self, listener: Listener) -> None:
        """Stop telling a listener; forgetting it twice is allowed."""
        with self._lock:
            if listener in self._listeners:
                self._listeners.discard(listener)
                for topic in listener.topics:
                    self._topics[topic].listeners -= 1

    def since(self, topics: Sequence[str], token: str) -> tuple[list[Event], str]:
        """Return the events of topics since a token, and the next token; without one, no events."""
        wanted = list(dict.fromkeys(topics))
        self._watch(wanted)
        with self._lock:
            now = self._token(self._sequence)
            return ([] if not token else self._after(wanted, self._position(token))), now

    def close(self) -> None:
        """End all listeners and stop looking. Closing twice is allowed."""
        self._ended.set()
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener.wake()

    def take(self, listener: Listener) -> tuple[list[Event], str]:
        """Return what a listener has not heard of, and the token of that place."""
        with self._lock:
            events = self._after(listener.topics, listener.position)
            listener.position = self._sequence
            return events, self._token(self._sequence)

    def _after(self, topics: Sequence[str], position: int | None) -> list[Event]:
        found = [item for topic in topics for item in self._topics[topic].after(position)]
        return [event for _, event in sorted(found, key=lambda item: item[0])]

    def _token(self, sequence: int) -> str:
        return f"{self._name}.{sequence}"

    def _position(self, token: str) -> int | None:
        """Return the place that a token names; None for one of another server, or of nobody."""
        name, _, digits = token.partition(".")
        if name != self._name or not digits.isdecimal() or len(digits) > 18:
            return None
        return min(int(digits), self._sequence)

    def _watch(self, topics: Sequence[str]) -> None:
        with self._lock:
            missing = [topic for topic in topics if topic not in self._topics]
        made = {topic: self._new_topic(topic) for topic in missing}
        with self._lock:
            for topic, new in made.items():
                if len(self._topics) >= MOST_TOPICS:
                    error = f"{MOST_TOPICS} runs are being watched, which is as many as can be."
                    raise Refusal(503, "too-many-topics", error, "Close other tabs, or watch `runs` alone.")
                new.began = self._sequence
                self._topics.setdefault(topic, new)
            for topic in topics:
                self._topics[topic].polled = self._clock()
            if self._thread is None and not self.is_closed:
                self._thread = threading.Thread(target=self._look_on, name="cutaway-studio-feed", daemon=True)
                self._thread.start()

    def _new_topic(self, topic: str) -> _Topic:
        if topic == RUNS:
            return self._topic_of_runs()
        if topic == JOBS:
            return self._topic_of_jobs()
        kind, _, run = topic.partition(":")
        if kind != "run" or not run:
            message = f"There is no topic {topic[:100]!r}."
            raise ConfigurationError(message, hint="Topics are `runs`, `jobs`, and `run:<id>` for one run.")
        pulse = Pulse(self._index.run_of(run).storage)

        def events(aspects: Sequence[str]) -> list[Event]:
            return [Event(topic=topic, what=cast("What", aspect), run=run) for aspect in aspects]

        jobs = self._jobs.watch(run)

        def look() -> list[Event]:
            return events([*pulse.look(), *([JOBS] if jobs.look() else [])])

        return _Topic(look, events([*ASPECTS, JOBS]), 0)

    def _topic_of_jobs(self) -> _Topic:
        watch = self._jobs.watch()

        def look() -> list[Event]:
            return [Event(topic=JOBS, what="jobs", run=run) for run in watch.look()]

        return _Topic(look, [Event(topic=JOBS, what="jobs")], 0)

    def _topic_of_runs(self) -> _Topic:
        number = self._index.last_change

        def look() -> list[Event]:
            nonlocal number
            changes = self._index.changes_since(number)
            number = changes[-1].number if changes else number
            progress = self._index.progress
            return [
                Event(
                    topic=RUNS,
                    what=change.what,
                    run=change.run,
                    state=cast("State | None", change.state),
                    indexing=progress if change.what == "indexing" else None,
                )
                for change in changes
            ]

        return _Topic(look, [Event(topic=RUNS, what="listed")], 0)

    def _look_on(self) -> None:
        everything = False
        # Jobs twice as often as all else: somebody waits for them, and those that run are a few files to look at.
        while not self._ended.wait(self._seconds / 2):
            everything = not everything
            with self._lock:
                self._forget_unwatched()
                if not self._topics:
                    self._thread = None
                    return
                watched = [topic for name, topic in self._topics.items() if everything or name == JOBS]
            found = [(topic, event) for topic in watched for event in _events_of(topic)]
            if found:
                self._tell(found)

    def _tell(self, found: list[tuple[_Topic, Event]]) -> None:
        with self._lock:
            for topic, event in found:
                self._sequence += 1
                topic.add(self._sequence, event)
            listeners = list(self._listeners)
        for listener in listeners:
            listener.wake()

    def _forget_unwatched(self) -> None:
        now = self._clock()
        for name, topic in list(self._topics.items()):
            if not topic.listeners and now - topic.polled > POLLED_SECONDS:
                del self._topics[name]


class Listener:
    """One who listens to some topics, and how far it has heard."""

    def __init__(self, feed: Feed, topics: Sequence[str], wake: Callable[[], None]) -> None:
        self._feed = feed
        self.topics = topics
        self.wake = wake
        self.position: int | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing will come any more."""
        return self._feed.is_closed

    def take(self) -> tuple[list[Event], str]:
        """Return what is new since the last call, and a token of that place."""
        return self._feed.take(self)

    def close(self) -> None:
        """Listen no longer. Closing twice is allowed."""
        self._feed.forget(self)


def _events_of(topic: _Topic) -> list[Event]:
    try:
        return topic.look()
    except (OSError, CutawayError) as error:
        # A folder that is being removed, or a network file system that hangs: the next look is in a second.
        _logger.debug("A look at a run failed: %s", error)
        return []
