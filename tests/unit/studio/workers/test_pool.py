"""Processes that are asked about evaluations: what they answer, and what becomes of them when code misbehaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copytree, rmtree

import pytest

from cutaway.analysis import Population
from cutaway.errors import BindingError, ConfigurationError, EncoderError, RunNotFound
from cutaway.run import Run
from cutaway.run.evaluations import evaluations, write_source
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.workers.pool import Workers
from tests.unit.studio.asked_model import SECRET_LINE, digits_run

pytest.importorskip("onnxruntime")
SAMPLE = {"sample": "training/3"}


class Place:
    """A folder of runs and the binding that made them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.binding = folder / "binding"
        self.run = digits_run(self.binding, folder / "runs" / "digits")

    def open(self, name: str) -> Run:
        path = self.folder / "runs" / name
        if not path.is_dir():
            raise RunNotFound(name, "runs")
        return Run.open(path)

    def misbehaves(self, what: str) -> None:
        (self.binding / "fault").write_text(what)

    @property
    def imports(self) -> int:
        held = self.binding / "imported"
        return len(held.read_text().splitlines()) if held.exists() else 0


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("workers"))


@pytest.fixture
def place(made: Place) -> Iterator[Place]:
    yield made
    (made.binding / "fault").unlink(missing_ok=True)


@pytest.fixture(scope="module")
def shared(made: Place) -> Iterator[Workers]:
    """Workers of several tests that do them no harm."""
    found = Workers(made.open)
    yield found
    found.close()


@pytest.fixture
def workers(place: Place) -> Iterator[Callable[..., Workers]]:
    """Makes workers of a test's own; each is slow to start."""
    found: list[Workers] = []

    def make(**settings: float) -> Workers:
        found.append(Workers(place.open, **settings))  # type: ignore[arg-type]
        return found[-1]

    yield make
    for one in found:
        one.close()


def pids(workers: Workers) -> list[int]:
    return [one.process.pid for one in workers._workers.values() if one.process is not None]


def alive(workers: Workers) -> list[int]:
    return [pid for pid in pids(workers) if lives(pid)]


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(holds: Callable[[], bool], seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_similar_samples_are_those_that_the_library_finds(place: Place, shared: Workers) -> None:
    population = Population.open(place.run)
    expected = population.find_similar("training/3", 5)
    arguments = {"rows": [3], "count": 5, "samples": len(population)}
    found = shared.ask("digits", None, "similar", arguments, lane="latents").value
    assert found["samples"] == expected.table["sample"].to_pylist()
    assert found["distances"] == pytest.approx(expected.table["distance"].to_pylist())
    assert [one["unit"] for one in found["units"]] == expected.units["unit"].to_pylist()


def test_what_a_binding_prints_comes_beside_the_answer(place: Place, shared: Workers) -> None:
    place.misbehaves("encode print")
    answer = shared.ask("digits", None, "visuals", SAMPLE)
    assert answer.printed == f"{SECRET_LINE}\n"
    assert [one["name"] for one in answer.value["visuals"]] == ["large", "answer"]
    place.misbehaves("draw print")
    answer = shared.ask("digits", None, "visuals", SAMPLE)
    assert answer.printed == ""
    assert [one["printed"] for one in answer.value["visuals"]] == [f"{SECRET_LINE}\n", ""]


def test_what_a_worker_raises_is_raised_here_as_the_same(place: Place, shared: Workers) -> None:
    place.misbehaves("encode raise")
    with pytest.raises(EncoderError, match="this sample is broken"):
        shared.ask("digits", None, "visuals", SAMPLE)
    place.misbehaves("nothing")
    with pytest.raises(ConfigurationError, match=r"no heat-map method 'grad_cma'\..*grad_cam"):
        shared.ask("digits", None, "heat_maps", {**SAMPLE, "method": "grad_cma"})
    assert shared.ask("digits", None, "visuals", SAMPLE).value["visuals"]


def test_a_question_that_nobody_knows_is_a_fault_of_ours(shared: Workers) -> None:
    with pytest.raises(Refusal, match="KeyError") as raised:
        shared.ask("digits", None, "nonsense", {})
    assert (raised.value.status, raised.value.code) == (500, "worker-failed")


def test_two_threads_that_ask_at_once_both_get_their_own_answers(shared: Workers) -> None:
    def near(row: int) -> list[str]:
        arguments = {"rows": [row], "count": 3, "samples": 130}
        return list(shared.ask("digits", None, "similar", arguments, lane="latents").value["samples"])

    alone = [near(row) for row in range(8)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(near, range(8))) == alone


@pytest.mark.slow
def test_a_binding_that_hangs_is_ended_at_the_deadline_and_said(place: Place, workers: Callable[..., Workers]) -> None:
    asked = workers(wait_seconds=0.05)
    asked.ask("digits", None, "open", {})
    place.misbehaves("draw hang")
    with ThreadPoolExecutor(1) as pool:
        hanging = pool.submit(asked.ask, "digits", None, "visuals", SAMPLE, seconds=1.5)
        assert until(lambda: "visualizers" in asked.state("digits", None).reason)
        with pytest.raises(Refusal, match=r"busy.*calling the visualizers") as busy:
            asked.ask("digits", None, "visuals", SAMPLE)
        with pytest.raises(Refusal, match=r"No answer within 1\.5 s while calling the visualizers") as late:
            hanging.result()
    assert (busy.value.code, busy.value.status, late.value.code, late.value.status) == ("busy", 503, "too-slow", 504)
    assert asked.state("digits", None).state == "unavailable"
    place.misbehaves("import hang")
    with ThreadPoolExecutor(1) as pool:
        hanging = pool.submit(asked.ask, "digits", None, "visuals", SAMPLE)
        assert until(lambda: asked.state("digits", None).reason == "opening the binding 'leap_binder.py'", 60)
        asked.close()
        with pytest.raises(Refusal, match=r"ended while opening the binding 'leap_binder\.py'"):
            hanging.result()


def test_a_process_that_ends_is_said_with_its_last_words_and_the_next_question_starts_another(
    place: Place, workers: Callable[..., Workers]
) -> None:
    asked = workers()
    place.misbehaves("encode exit")
    with pytest.raises(Refusal, match=r"ended while .*exit status 7\. It printed last: .*last words") as crashed:
        asked.ask("digits", None, "visuals", SAMPLE)
    assert (crashed.value.status, crashed.value.code) == (503, "worker-ended")
    place.misbehaves("nothing")
    assert asked.ask("digits", None, "visuals", SAMPLE).value["visuals"]
    (pid,) = pids(asked)
    os.kill(pid, signal.SIGKILL)
    assert asked.ask("digits", None, "visuals", SAMPLE).value["visuals"]
    assert pids(asked) != [pid]


@pytest.mark.slow
def test_only_so_many_live_at_once_and_idle_ones_are_ended(place: Place, workers: Callable[..., Workers]) -> None:
    copytree(place.run, place.folder / "runs" / "other")
    asked = workers(most=1, idle_seconds=1.0)
    asked.ask("digits", None, "ready", {}, lane="latents")
    first = pids(asked)
    asked.ask("other", None, "ready", {}, lane="latents")
    assert len(alive(asked)) == 1
    assert not lives(*first)
    (second,) = pids(asked)
    assert until(lambda: not lives(second))
    assert not alive(asked)


def test_closing_ends_them_and_whoever_asks_after_that_is_refused(
    place: Place, workers: Callable[..., Workers]
) -> None:
    asked = workers()
    asked.ask("digits", None, "open", {})
    place.misbehaves("encode hang")
    (pid,) = pids(asked)
    failed: list[BaseException] = []

    def ask() -> None:
        try:
            asked.ask("digits", None, "visuals", SAMPLE)
        except Refusal as refusal:
            failed.append(refusal)

    thread = threading.Thread(target=ask)
    thread.start()
    assert until(lambda: "encoding" in asked.state("digits", None).reason)
    asked.close()
    thread.join(60)
    assert not thread.is_alive()
    assert len(failed) == 1
    assert not lives(pid)
    with pytest.raises(Refusal, match="closing"):
        asked.ask("digits", None, "ready", {}, lane="latents")


@pytest.mark.slow
def test_workers_end_with_the_server_however_that_ends(place: Place) -> None:
    program = f"""
import os
from cutaway.run import Run
from cutaway.studio.workers.pool import Workers
workers = Workers(lambda _: Run.open({str(place.run)!r}))
workers.ask("digits", None, "ready", {{}}, lane="latents")
print([one.process.pid for one in workers._workers.values()][0], flush=True)
os._exit(1)
"""
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False).stdout
    assert until(lambda: not lives(int(printed)))


def test_opening_goes_from_off_to_ready_without_being_waited_for(place: Place, workers: Callable[..., Workers]) -> None:
    asked = workers()
    assert asked.state("digits", None).state == "off"
    assert asked.start("digits", None).state == "starting"
    assert asked.start("digits", None).state == "starting"
    assert until(lambda: asked.state("digits", None).state == "ready", 60)
    assert (asked.state("digits", None).seconds or 0) > 0
    assert len(alive(asked)) == 2


def test_a_binding_that_is_gone_makes_the_model_unavailable_with_the_reason(
    place: Place, workers: Callable[..., Workers]
) -> None:
    aside = place.binding.with_name("aside")
    place.binding.rename(aside)
    try:
        asked = workers()
        asked.start("digits", None)
        assert until(lambda: asked.state("digits", None).state == "unavailable", 60)
        assert "is gone" in asked.state("digits", None).reason
        arguments = {"rows": [3], "count": 5, "samples": 130}
        assert len(asked.ask("digits", None, "similar", arguments, lane="latents").value["samples"]) == 5
    finally:
        aside.rename(place.binding)


@pytest.mark.parametrize("where", ["its own run", "another run"])
def test_a_binding_that_came_with_a_run_is_never_run(
    place: Place, workers: Callable[..., Workers], where: str, tmp_path: Path
) -> None:
    evil = place.folder / "runs" / "evil"
    rmtree(evil, ignore_errors=True)
    copytree(place.run, evil)
    home = evil if where == "its own run" else Path(copytree(place.run, tmp_path / "second"))
    mark = tmp_path / "it ran"
    entry = home / "leap_binder.py"
    entry.write_text(f"open({str(mark)!r}, 'w').close()")
    (evaluation,) = evaluations(Run.open(evil))
    source = evaluation.source.document
    write_source(evaluation, {**source, "binding": {**source["binding"], "entry_file": str(entry)}})
    with pytest.raises(BindingError, match="is not run from there"):
        workers().ask("evil", None, "visuals", SAMPLE)
    assert not mark.exists()


def test_one_that_is_read_only_answers_from_vectors_and_runs_nobodys_code(
    place: Place, workers: Callable[..., Workers]
) -> None:
    asked, before = workers(read_only=True), place.imports
    for question in ("visuals", "heat_maps", "open", "try"):
        with pytest.raises(Refusal, match="read-only") as refused:
            asked.ask("digits", None, question, SAMPLE)
        assert refused.value.status == 403
    assert asked.start("digits", None).state == "unavailable"
    arguments = {"rows": [3], "count": 5, "samples": 130}
    assert len(asked.ask("digits", None, "similar", arguments, lane="latents").value["samples"]) == 5
    assert place.imports == before


@pytest.mark.slow
def test_a_run_that_is_removed_is_said_to_be_gone(place: Place, workers: Callable[..., Workers]) -> None:
    copytree(place.run, place.folder / "runs" / "short")
    asked = workers()
    asked.ask("short", None, "ready", {}, lane="latents")
    rmtree(place.folder / "runs" / "short")
    with pytest.raises(RunNotFound):
        asked.ask("short", None, "ready", {}, lane="latents")


def test_what_is_too_long_for_a_message_is_refused_and_costs_nothing_else(
    shared: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared.ask("digits", None, "bind", {})
    monkeypatch.setattr("cutaway.engine.messages.LONGEST", 1000)
    with pytest.raises(Refusal, match="longer than 1,000"):
        shared.ask("digits", None, "try", {"body": bytes(2000)})
    monkeypatch.undo()
    assert shared.ask("digits", None, "visuals", SAMPLE).value["visuals"]


def test_a_binding_that_is_edited_is_opened_anew(place: Place, workers: Callable[..., Workers]) -> None:
    asked = workers()
    asked.ask("digits", None, "visuals", SAMPLE)
    entry = place.binding / "leap_binder.py"
    before = entry.read_text()
    entry.write_text(before.replace('"large", LeapDataType', '"huge", LeapDataType'))
    try:
        names = [one["name"] for one in asked.ask("digits", None, "visuals", SAMPLE).value["visuals"]]
    finally:
        entry.write_text(before)
    assert names == ["huge", "answer"]


@pytest.mark.slow
def test_source_of_an_evaluation_decides_which_worker_answers(place: Place, workers: Callable[..., Workers]) -> None:
    """Another evaluation in the same place is another worker: nothing of the one before is shown for it."""
    copytree(place.run, place.folder / "runs" / "again")
    asked = workers()
    asked.ask("again", None, "ready", {}, lane="latents")
    (evaluation,) = evaluations(Run.open(place.folder / "runs" / "again"))
    write_source(evaluation, {**evaluation.source.document, "time": "later"})
    asked.ask("again", None, "ready", {}, lane="latents")
    assert len(pids(asked)) == 2
