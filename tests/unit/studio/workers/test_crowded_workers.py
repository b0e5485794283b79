"""Many runs that are asked in one moment: there are never more processes than may be, and the others are told so."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from shutil import copytree

from cutaway.run import Run
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.workers.pool import MOST_ALIVE, Workers
from tests.unit.studio.a_population import make


def test_of_many_that_start_at_once_only_so_many_live(tmp_path: Path) -> None:
    make(tmp_path, "0", 30)
    for number in range(1, 8):
        copytree(tmp_path / "0", tmp_path / str(number))
    workers = Workers(lambda name: Run.open(tmp_path / name))
    answers: list[str] = []

    def ask(name: str) -> None:
        try:
            workers.ask(name, 0, "ready", {}, lane="latents")
            answers.append("answered")
        except Refusal as refusal:
            answers.append(refusal.code)

    asking = [threading.Thread(target=ask, args=(str(number),)) for number in range(8)]
    try:
        for one in asking:
            one.start()
        most = 0
        while any(one.is_alive() for one in asking):
            most = max(most, _alive(workers))
            time.sleep(0.01)
    finally:
        workers.close()
    assert 0 < most <= MOST_ALIVE
    assert "answered" in answers
    assert set(answers) <= {"answered", "busy"}


def _alive(workers: Workers) -> int:
    processes = [one.process for one in list(workers._workers.values())]
    return sum(one is not None and one.lives for one in processes)
