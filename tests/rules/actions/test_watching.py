"""`cutaway watch` with actions: messages of a watcher that was killed are sent by the next, which says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cutaway.cli import main
from cutaway.rules import watcher
from cutaway.run import Run
from cutaway.run.control import Inbox, history
from cutaway.testing.rules import ScriptedRun
from tests.rules.actions.conftest import SECRET
from tests.rules.actions.servers import Endpoint

RULES = ["--rules", "VanishingGradient"]


@pytest.fixture
def sick(tmp_path: Path) -> Run:
    script = ScriptedRun()
    for step in range(20):
        script.step(tensors={"gradient/fc.weight": np.full(4, 1e-3 if step < 7 else 1e-12)})
    return script.write(tmp_path / "sick")


def test_a_run_that_has_ended_is_told_of_and_asked_for_nothing(sick: Run, endpoint: Endpoint) -> None:
    command = ["watch", str(sick.path), *RULES, "--action", "stop", "--action", f"notify={endpoint.url}"]
    for _ in range(2):
        assert main(command) == 0
    assert Inbox(sick.storage, "train").new() == []
    assert len(endpoint.posts) == 1
    assert SECRET not in "".join(path.read_bytes().decode("latin-1") for path in sick.path.rglob("*") if path.is_file())


def test_a_killed_watcher_leaves_its_messages_to_the_next(
    sick: Run, endpoint: Endpoint, capfd: pytest.CaptureFixture[str]
) -> None:
    command = ["watch", str(sick.path), *RULES, "--action", f"notify={endpoint.url}"]
    endpoint.open.clear()
    killed = subprocess.Popen([sys.executable, "-m", "cutaway", *command])
    assert endpoint.arrived.wait(60)
    killed.kill()
    killed.wait()
    endpoint.open.set()
    assert main(command) == 0
    assert [reply.state if reply else "" for _, reply in history(sick.storage)] == ["done"]
    assert len({post.headers["Idempotency-Key"] for post in endpoint.posts}) == 1
    assert len(endpoint.posts) == 2
    codes = [one.code for one in Run.open(sick.path).findings()]
    assert sorted(codes) == ["VanishingGradient", "notify-maybe-twice"]


def test_a_watcher_that_ends_before_a_message_is_sent_says_so(
    sick: Run, endpoint: Endpoint, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["watch", str(sick.path), *RULES, "--action", f"notify={endpoint.url}"]
    endpoint.statuses = [503]
    # It would wait for longer than a test may take if it waited until the next try.
    monkeypatch.setattr(watcher, "DELIVERY_SECONDS", 3600)
    assert main(command) == 0
    assert "1 messages about 'sick' wait to be sent" in caplog.text
    assert main(command) == 0
    assert len(endpoint.posts) == 2
    assert [one.code for one in sick.findings()] == ["VanishingGradient"]
