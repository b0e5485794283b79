"""Whether a process lives: asked of real ones."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutaway.run import process
from cutaway.run.process import is_alive, is_here, this_process


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"]) as child:
        yield child
        child.kill()


def _described(pid: int) -> dict[str, object]:
    return {**this_process(), "pid": pid, "started": process._started(pid)}


def test_this_process_is_here_and_alive() -> None:
    assert is_here(this_process())
    assert is_alive(this_process())


def test_another_process_is_alive_until_it_is_killed(sleeper: subprocess.Popen[bytes]) -> None:
    described = _described(sleeper.pid)
    assert is_here(described)
    assert is_alive(described)
    sleeper.kill()
    sleeper.wait()
    assert not is_alive(described)


def test_a_stopped_process_is_alive(sleeper: subprocess.Popen[bytes]) -> None:
    described = _described(sleeper.pid)
    sleeper.send_signal(signal.SIGSTOP)
    assert is_alive(described)


def test_a_zombie_is_not_alive(sleeper: subprocess.Popen[bytes]) -> None:
    described = _described(sleeper.pid)
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)  # dead, but not yet reaped
    assert not is_alive(described)


def test_a_reused_process_id_is_another_process(sleeper: subprocess.Popen[bytes]) -> None:
    assert not is_alive({**_described(sleeper.pid), "started": "12345"})


def test_a_process_of_another_machine_is_not_here() -> None:
    assert not is_here({**this_process(), "machine": "elsewhere"})
    assert not is_here({})


def test_a_process_that_proc_hides_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    described = {**this_process(), "pid": 2**22 + 1}
    assert not is_alive(described)

    def kill(pid: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", kill)
    assert is_alive(described)


def test_the_start_is_told_without_proc(sleeper: subprocess.Popen[bytes]) -> None:
    assert process._started_by_ps(os.getpid())
    assert process._started_by_ps(2**22 + 1) is None


def test_a_command_with_spaces_and_parentheses_does_not_confuse(tmp_path: Path) -> None:
    odd = tmp_path / "a) b (c"
    odd.symlink_to("/bin/sleep")
    with subprocess.Popen([odd, "60"]) as child:
        time.sleep(0)
        described = _described(child.pid)
        assert str(described["started"]).isdigit()
        child.kill()
