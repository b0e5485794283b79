"""What is live: told once to each who listens, merged for those who are slow, and never more than is bounded."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cutaway.errors import ConfigurationError, RunNotFound
from cutaway.run import Run, WriterId
from cutaway.studio import live
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.index import RunIndex
from cutaway.studio.jobs.the_jobs import Jobs
from cutaway.studio.live import Feed, Listener
from cutaway.studio.wire.live import Event


def scalar(step: int) -> dict[str, list[object]]:
    return {"name": ["loss"], "step": [step], "mode": ["TRAIN"], "value": [0.5], "time": [1.0]}


def ids_in(index: RunIndex, runs: int) -> dict[str, str]:
    """Wait until that many runs are read, and return their ids by their names."""
    deadline = time.monotonic() + 60
    while len(index.table().rows) < runs and time.monotonic() < deadline:
        time.sleep(0.01)
    return {row.name: row.id for row in index.table().rows}


class Watched:
    """A feed that looks when it is told to, over real runs."""

    def __init__(self, root: Path) -> None:
        self.runs = {name: Run.create(root / name) for name in ("one", "two")}
        self.index = RunIndex(root, cache=False)
        self.ids = ids_in(self.index, 2)
        self.now = 0.0
        # The thread of the feed sleeps for the whole test; `look` is what it would do.
        self.feed = Feed(self.index, Jobs(self.index), seconds=10_000, clock=lambda: self.now)
        self.writers = {
            name: run.writer("scalars", WriterId("train", "worker_0", 0)) for name, run in self.runs.items()
        }
        self.step = 0

    def topic(self, name: str) -> str:
        return f"run:{self.ids[name]}"

    def write(self, name: str) -> None:
        self.writers[name].append_rows(scalar(self.step), self.step)
        self.step += 1

    def look(self) -> None:
        self.feed._forget_unwatched()
        found = [(topic, event) for topic in self.feed._topics.values() for event in live._events_of(topic)]
        self.feed._tell(found)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    made = Watched(tmp_path)
    yield made
    made.feed.close()
    made.index.close()


def kinds(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.topic, event.what) for event in events]


def listen(watched: Watched, *names: str, token: str = "", wake: Callable[[], None] = lambda: None) -> Listener:
    return watched.feed.listen([watched.topic(name) for name in names], token, wake)


def test_a_change_is_told_to_those_who_watch_that_run_and_to_nobody_else(watched: Watched) -> None:
    one, two, both = listen(watched, "one"), listen(watched, "two"), listen(watched, "one", "two")
    watched.write("one")
    watched.look()
    assert kinds(one.take()[0]) == [(watched.topic("one"), "scalars")]
    assert kinds(both.take()[0]) == [(watched.topic("one"), "scalars")]
    assert two.take()[0] == []
    assert one.take()[0] == []


def test_a_slow_listener_gets_many_changes_as_one(watched: Watched) -> None:
    slow = listen(watched, "one")
    for _ in range(50):
        watched.write("one")
        watched.look()
    assert kinds(slow.take()[0]) == [(watched.topic("one"), "scalars")]
    assert len(watched.feed._topics[watched.topic("one")].newest) == 1


def test_listeners_are_woken_when_something_is_new(watched: Watched) -> None:
    woken = threading.Event()
    listen(watched, "one", wake=woken.set)
    watched.write("one")
    watched.look()
    assert woken.is_set()


def test_nothing_is_looked_at_that_nobody_watches(watched: Watched) -> None:
    listener = listen(watched, "one")
    watched.look()
    assert set(watched.feed._topics) == {watched.topic("one")}
    listener.close()
    listener.close()
    watched.now += live.POLLED_SECONDS + 1
    watched.look()
    assert watched.feed._topics == {}


def test_polling_tells_what_streams_tell(watched: Watched) -> None:
    topics = [watched.topic("one")]
    events, token = watched.feed.since(topics, "")
    assert events == []
    watched.write("one")
    watched.look()
    events, later = watched.feed.since(topics, token)
    assert kinds(events) == [(topics[0], "scalars")]
    assert watched.feed.since(topics, later)[0] == []
    # Asked again with the old token, it is told again: an answer that got lost loses nothing.
    assert kinds(watched.feed.since(topics, token)[0]) == [(topics[0], "scalars")]


@pytest.mark.parametrize("token", ["other.1", "x", ".", "1", "é.2", "a." + "9" * 50])
def test_a_token_of_another_server_means_that_everything_may_have_changed(watched: Watched, token: str) -> None:
    events, _ = watched.feed.since([watched.topic("one"), "runs"], token)
    told = kinds(events)
    assert ("runs", "listed") in told
    assert (watched.topic("one"), "scalars") in told
    assert (watched.topic("one"), "state") in told


def test_who_polls_too_seldom_is_told_that_everything_may_have_changed(watched: Watched) -> None:
    topics = [watched.topic("one")]
    busy = listen(watched, "two")
    _, token = watched.feed.since(topics, "")
    watched.write("one")
    watched.now += live.POLLED_SECONDS + 1
    watched.look()
    watched.write("two")
    watched.look()
    assert busy.take()[0]
    assert (topics[0], "scalars") in kinds(watched.feed.since(topics, token)[0])


def test_a_stream_that_was_cut_goes_on_where_it_was(watched: Watched) -> None:
    first = listen(watched, "one")
    _, token = first.take()
    first.close()
    watched.write("one")
    watched.look()
    assert kinds(listen(watched, "one", token=token).take()[0]) == [(watched.topic("one"), "scalars")]
    assert listen(watched, "one").take()[0] == []


def test_a_new_run_is_told_to_those_who_watch_all(watched: Watched, tmp_path: Path) -> None:
    listener = watched.feed.listen(["runs"], "", lambda: None)
    Run.create(tmp_path / "three")
    watched.index._runs.look(threading.Event())
    watched.look()
    assert ("runs", "listed") in kinds(listener.take()[0])


def test_events_about_single_runs_are_bounded() -> None:
    topic = live._Topic(list, [Event(topic="runs", what="listed")], 0)
    for i in range(3 * live.MOST_EVENTS):
        topic.add(i + 1, Event(topic="runs", what="state", run=str(i)))
    assert len(topic.newest) <= live.MOST_EVENTS
    assert any(event.run is None for _, event in topic.after(0))


def test_streams_are_bounded_and_a_place_becomes_free_again(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_STREAMS", 2)
    first, _ = listen(watched, "one"), listen(watched, "one")
    with pytest.raises(Refusal) as refused:
        listen(watched, "one")
    assert (refused.value.status, refused.value.code) == (503, "too-many-streams")
    assert "api/changes" in refused.value.hint
    first.close()
    listen(watched, "one")


def test_watched_runs_are_bounded(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_TOPICS", 1)
    watched.feed.since([watched.topic("one")], "")
    with pytest.raises(Refusal) as refused:
        watched.feed.since([watched.topic("two")], "")
    assert refused.value.status == 503


@pytest.mark.parametrize("topic", ["", "run", "run:", "everything", "runs:x", "/etc/passwd"])
def test_a_topic_that_does_not_exist_is_refused(watched: Watched, topic: str) -> None:
    with pytest.raises(ConfigurationError, match="Topics are `runs`"):
        watched.feed.since([topic], "")


def test_a_run_that_does_not_exist_is_refused_and_nothing_is_left_behind(watched: Watched) -> None:
    with pytest.raises(RunNotFound):
        watched.feed.listen([watched.topic("one"), "run:../one"], "", lambda: None)
    assert watched.feed._listeners == set()


def test_closing_ends_every_listener(watched: Watched) -> None:
    woken = threading.Event()
    listener = listen(watched, "one", wake=woken.set)
    assert not listener.is_over
    watched.feed.close()
    watched.feed.close()
    assert listener.is_over
    assert woken.is_set()


def test_a_look_that_fails_is_not_the_last(watched: Watched) -> None:
    listener = listen(watched, "one")
    topic = watched.feed._topics[watched.topic("one")]
    works, topic.look = topic.look, lambda: (_ for _ in ()).throw(OSError("gone for a moment"))
    watched.look()
    topic.look = works
    watched.write("one")
    watched.look()
    assert kinds(listener.take()[0]) == [(watched.topic("one"), "scalars")]


def test_the_thread_of_the_feed_looks_by_itself_and_ends(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "one")
    index = RunIndex(tmp_path, cache=False)
    identity = ids_in(index, 1)["one"]
    feed = Feed(index, Jobs(index), seconds=0.01)
    woken = threading.Event()
    listener = feed.listen([f"run:{identity}"], "", woken.set)
    run.writer("scalars", WriterId("train", "worker_0", 0)).append_rows(scalar(0), 0)
    assert woken.wait(60)
    assert kinds(listener.take()[0]) == [(f"run:{identity}", "scalars")]
    thread = feed._thread
    assert thread is not None
    feed.close()
    index.close()
    thread.join(60)
    assert not thread.is_alive()
