"""Commands: a real program is run, gets the finding, and says with its exit code whether it took it."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from cutaway.errors import ConfigurationError
from cutaway.rules import Command
from cutaway.rules.actions.channel import Message


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "page.py"
    path.write_text(
        "import json, os, sys\n"
        "got = {'stdin': json.load(sys.stdin), 'argv': sys.argv[1:], 'id': os.environ['CUTAWAY_FINDING_ID'],"
        " 'run': os.environ['CUTAWAY_RUN']}\n"
        f"open({str(tmp_path / 'got.json')!r}, 'w').write(json.dumps(got))\n"
    )
    return path


def test_a_program_gets_the_finding(script: Path, message: Message) -> None:
    words = ["--urgent", "$HOME; exit 3", "*"]
    assert Command([sys.executable, str(script), *words]).send(message).state == "sent"
    got = json.loads((script.parent / "got.json").read_text())
    assert got["argv"] == words
    assert got["stdin"]["finding"]["code"] == "VanishingGradient"
    assert got["stdin"]["key"] == message.key
    assert (got["id"], got["run"]) == (message.finding["id"], message.path)


def test_an_exit_code_is_a_failure(message: Message) -> None:
    outcome = Command([sys.executable, "-c", "raise SystemExit(3)"]).send(message)
    assert (outcome.state, "ended with 3" in outcome.reason) == ("failed", True)


def test_a_program_that_does_not_read_may_end_well(message: Message) -> None:
    long = Message(message.key, message.run, "", 0.0, {**message.finding, "message": "x" * 1_000_000})
    assert Command(["true"]).send(long).state == "sent"


def test_a_program_that_hangs_is_killed_with_what_it_started(tmp_path: Path, message: Message) -> None:
    pids = tmp_path / "pids"
    script = f"sleep 3600 & echo $! > {pids}; wait"
    outcome = Command(["sh", "-c", script], timeout=0.3).send(message)
    assert (outcome.state, "was killed" in outcome.reason) == ("failed", True)
    pid, deadline = int(pids.read_text()), time.monotonic() + 60
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_program_that_is_not_there_is_refused(tmp_path: Path, message: Message) -> None:
    plain = tmp_path / "plain.txt"
    plain.write_text("no program")
    broken = tmp_path / "broken.sh"
    broken.write_text("#!/no/such/shell\n")
    broken.chmod(0o755)
    for argv in (["no-such-program-anywhere"], [str(tmp_path / "gone.sh")], [str(plain)], [str(broken)]):
        outcome = Command(argv).send(message)
        assert outcome.state == "refused", argv


def test_a_path_means_the_same_in_another_folder(
    script: Path, message: Message, monkeypatch: pytest.MonkeyPatch
) -> None:
    script.write_text(f"#!{sys.executable}\n" + script.read_text())
    script.chmod(0o755)
    monkeypatch.chdir(script.parent)
    command = Command(["./page.py"])
    assert command == Command([str(script)])
    monkeypatch.chdir(os.sep)
    assert command.send(message).state == "sent"


def test_what_is_shown_has_no_arguments() -> None:
    command = Command(["/opt/page.sh", "--token", "t0ken"])
    assert command.label == "command page.sh"
    assert "t0ken" not in repr(command)


@pytest.mark.parametrize("argv", ["./page.sh", [], [""], ["a\0b"]])
def test_what_is_no_list_of_words_is_refused(argv: object) -> None:
    with pytest.raises(ConfigurationError, match="list of words"):
        Command(argv)  # type: ignore[arg-type]


def test_a_time_limit_must_be_one() -> None:
    with pytest.raises(ConfigurationError, match="timeout > 0"):
        Command(["true"], timeout=-1)
