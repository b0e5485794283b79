"""A supervised child: what it answers, how its end is told, and that nothing of it is left."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from cutaway.engine.messages import BadMessage, Ended, Late
from cutaway.engine.supervised import SupervisedProcess

# Answers `say` with it; `words` is an answer without names.
CHILD = """
import os, sys
from cutaway.engine.child_side import begin_child
from cutaway.engine.messages import Ended, read_blocking, write_message
requests, answers, lifeline = map(int, sys.argv[1:4])
begin_child((requests, answers, lifeline), lifeline)
print("started with", sys.argv[4], flush=True)
while True:
    try:
        request = read_blocking(requests)
    except Ended:
        break
    if "exit" in request:
        print("last words", flush=True)
        os._exit(request["exit"])
    if "signal" in request:
        os.kill(os.getpid(), request["signal"])
    if "words" in request:
        write_message(answers, request["words"])
    elif "say" in request:
        write_message(answers, {"said": request["say"]})
"""


@pytest.fixture
def child(tmp_path: Path) -> SupervisedProcess:
    (tmp_path / "answering.py").write_text(CHILD, encoding="utf-8")
    return SupervisedProcess("answering", ["here"], environment={**os.environ, "PYTHONPATH": str(tmp_path)})


def soon() -> float:
    return time.monotonic() + 60


def test_it_answers_and_what_it_prints_is_kept_apart(child: SupervisedProcess) -> None:
    child.send({"say": [1, 2]}, soon())
    assert child.read(soon()) == {"said": [1, 2]}
    assert child.last_lines(3) == ["started with here"]
    assert child.lives
    child.end()
    child.end()
    assert not child.lives


def test_nobody_waits_past_a_deadline_and_it_still_answers(child: SupervisedProcess) -> None:
    child.send({"nothing": 1}, soon())
    with pytest.raises(Late):
        child.read(time.monotonic() + 0.01)
    child.send({"say": 1}, soon())
    assert child.read(soon()) == {"said": 1}
    child.end()


def test_an_answer_without_names_is_none(child: SupervisedProcess) -> None:
    child.send({"words": [1]}, soon())
    with pytest.raises(BadMessage, match="an answer has names"):
        child.read(soon())
    child.end()


@pytest.mark.parametrize(
    ("request_", "how"),
    [({"exit": 7}, "exit status 7"), ({"signal": 11}, "segmentation fault"), ({"signal": 12}, "SIGUSR2")],
)
def test_how_it_ended_is_told_in_words(child: SupervisedProcess, request_: dict[str, int], how: str) -> None:
    child.send(request_, soon())
    with pytest.raises(Ended):
        child.read(soon())
    assert how in child.ending()
    assert ("last words" in child.last_lines(1)) == ("exit" in request_)
    child.end()


def test_what_was_handed_in_is_let_go_once_also_where_it_cannot_start(tmp_path: Path) -> None:
    gone: list[str] = []
    with pytest.raises(OSError, match="No such file"):
        SupervisedProcess("x", environment={}, folder=tmp_path / "absent", let_go=lambda: gone.append("never began"))
    one = SupervisedProcess("this", environment={}, let_go=lambda: gone.append("began"))
    one.end()
    one.end()
    assert gone == ["never began", "began"]
