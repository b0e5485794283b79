"""`cutaway watch`."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutaway.cli.options import open_run
from cutaway.run import Run, RunState
from cutaway.run.control import Inbox
from tests.rules.sickness import sick_run, train

Cutaway = Callable[..., tuple[int, str, str]]

ONE = ("--rules", "VanishingGradient")
MINE = """
from cutaway.rules import Rule

class Fortieth(Rule):
    def invoke_at_step(self, step):
        return step == 40
"""


@pytest.fixture
def sick(home: Path) -> Run:
    return sick_run().write(home / "runs" / "sick")


def summary(cutaway: Cutaway, *words: str) -> dict[str, Any]:
    _, out, _ = cutaway("watch", *words, "--json")
    found: dict[str, Any] = json.loads(out)
    return found


def test_a_table_names_rule_status_step_and_finding(sick: Run, cutaway: Cutaway) -> None:
    code, out, err = cutaway("watch", "sick", "--rules", "VanishingGradient,DeadRelu")
    assert (code, err) == (0, "")
    fired, skipped = (line.split() for line in out.splitlines()[2:4])
    assert fired[:3] == ["VanishingGradient", "FIRED", "59"]
    assert skipped[:2] == ["DeadRelu", "SKIPPED"]
    assert "gradient/fc.weight has vanished" in out
    assert "Next: cutaway runs show runs/sick" in out


def test_findings_are_recorded_and_shown_by_runs_show_with_what_to_try(sick: Run, cutaway: Cutaway) -> None:
    assert "Not checked yet" in cutaway("runs", "show", "sick")[1]
    cutaway("watch", "sick", *ONE)
    _, out, _ = cutaway("runs", "show", "sick")
    assert "1 warning, the first at step 30" in out
    assert "try" in out
    assert "Where there is sigmoid or tanh" in out
    _, text, _ = cutaway("runs", "show", "sick", "--json")
    assert json.loads(text)["health"]["verdict"] == "warnings"


def test_a_healthy_run_is_said_to_be_healthy(home: Path, cutaway: Cutaway) -> None:
    sick_run(sick=0).write(home / "runs" / "well")
    cutaway("watch", "well", *ONE)
    assert "healthy: 1 rule looked at it up to step 29 and found nothing" in cutaway("runs", "show", "well")[1]


@pytest.mark.parametrize(("fail_on", "code"), [("warning", 1), ("info", 1), ("error", 0), ("never", 0)])
def test_the_exit_code_follows_from_the_severity(sick: Run, cutaway: Cutaway, fail_on: str, code: int) -> None:
    # Also the second time, when everything is recorded already.
    for _ in range(2):
        assert cutaway("watch", "sick", *ONE, "--fail-on", fail_on)[0] == code


def test_a_healthy_run_ends_with_0_whatever_is_asked(home: Path, cutaway: Cutaway) -> None:
    sick_run(sick=0).write(home / "runs" / "well")
    assert cutaway("watch", "well", *ONE, "--fail-on", "info")[0] == 0


def test_json_has_rules_and_findings_with_their_evidence(sick: Run, cutaway: Cutaway) -> None:
    found = summary(cutaway, "sick", *ONE)
    assert found["rules"][0]["status"] == "FIRED"
    (finding,) = found["findings"]
    assert finding["where"] == {"step": 30, "mode": "TRAIN", "tensor": "gradient/fc.weight", "attempt": 0}
    assert finding["evidence"]["samples"] == ["training/30"]
    assert found["worst"] == "warning"


def test_a_parameter_reaches_its_rule(sick: Run, cutaway: Cutaway) -> None:
    found = summary(cutaway, "sick", *ONE, "--param", "VanishingGradient.threshold=1e-10")
    assert found["rules"][0]["status"] == "SILENT"
    assert found["rules"][0]["parameters"] == {"threshold": 1e-10}


def test_a_rule_of_ones_own_comes_from_a_file(sick: Run, home: Path, cutaway: Cutaway) -> None:
    (home / "mine.py").write_text(MINE)
    found = summary(cutaway, "sick", "--rules", "mine.py:Fortieth")
    assert [(one["code"], one["where"]["step"]) for one in found["findings"]] == [("Fortieth", 40)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--rules", "VanishinGradient"), "Did you mean 'VanishingGradient'"),
        ((*ONE, "--param", "VanishingGradient.tresh=1"), "Did you mean 'threshold'"),
        ((*ONE, "--fail-on", "warnings"), "Did you mean 'warning'"),
        ((*ONE, "--action", "stopp"), "Did you mean 'stop'"),
        ((*ONE, "--action", "VanishinGradient=stop"), "VanishingGradient"),
    ],
)
def test_what_is_unknown_offers_the_nearest(sick: Run, cutaway: Cutaway, words: tuple[str, ...], said: str) -> None:
    code, _, err = cutaway("watch", "sick", *words)
    assert code == 2
    assert said in err


def test_a_run_that_is_not_there_is_said(home: Path, cutaway: Cutaway) -> None:
    code, _, err = cutaway("watch", "nowhere", *ONE)
    assert code == 2
    assert "No run 'nowhere'" in err


def test_an_action_is_asked_of_the_running_training(home: Path, cutaway: Cutaway) -> None:
    script = sick_run()
    run = script.begin(home / "runs" / "live")
    cutaway("watch", "live", *ONE, "--action", "VanishingGradient=stop", "--action", "dump")
    assert sorted(one.action for one in Inbox(run.storage, "train").new()) == ["dump", "stop"]
    script.end()


def test_follow_waits_for_the_run_and_ends_with_it(
    home: Path, cutaway: Cutaway, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, looked_for = sick_run(healthy=5, sick=5), list[str]()

    def opened(text: str) -> Run:
        looked_for.append(text)
        if len(looked_for) == 3:
            script.begin(home / "runs" / "late")
            script.end()
        return open_run(text)

    monkeypatch.setattr("cutaway.cli.watch.open_run", opened)
    monkeypatch.setattr("cutaway.cli.watch.WAIT_SECONDS", 0.01)
    code, out, err = cutaway("watch", "runs/late", *ONE, "--follow", "--json")
    assert looked_for == ["runs/late"] * 3
    first, *rest = out.splitlines()
    assert code == 0
    assert "Waiting for the run" in err
    assert json.loads(first)["code"] == "VanishingGradient"
    assert json.loads("\n".join(rest))["state"] == "finished"


def test_follow_waits_where_the_run_is_there_but_its_training_only_starts(home: Path, cutaway: Cutaway) -> None:
    _, lease = Run.start(home / "runs" / "late")
    threading.Timer(0.5, lease.release, [RunState.FINISHED]).start()
    _, out, _ = cutaway("watch", "runs/late", *ONE, "--follow", "--json")
    assert json.loads(out)["state"] == "finished"


def test_a_run_that_only_starts_is_told_so(home: Path, cutaway: Cutaway) -> None:
    Run.start(home / "runs" / "late")
    _, out, _ = cutaway("watch", "runs/late", *ONE)
    assert "late  starting  no step yet" in out


def test_follow_does_not_wait_for_a_run_that_nobody_trains(home: Path, cutaway: Cutaway) -> None:
    Run.create(home / "runs" / "measured", kind="evaluation")
    _, out, _ = cutaway("watch", "runs/measured", *ONE, "--follow", "--json")
    assert json.loads(out)["state"] == "ended"


def test_in_a_log_each_finding_is_a_line_at_once(home: Path, cutaway: Cutaway) -> None:
    script = sick_run(healthy=5, sick=5)
    script.begin(home / "runs" / "live")
    threading.Timer(0.7, script.end).start()
    _, out, err = cutaway("watch", "live", *ONE, "--follow")
    assert err.startswith("warning: VanishingGradient at step 5: gradient/fc.weight has vanished")
    assert "finished  step 9" in out


def test_a_terminal_shows_a_live_table_and_at_the_end_the_page(home: Path) -> None:
    script = sick_run(healthy=5)
    script.begin(home / "runs" / "live")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "cutaway", "watch", "live", *ONE, "--follow"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, cwd=home, env=environment)
    os.close(theirs)
    train(script, 5)
    shown, ended = b"", False
    while True:
        try:
            data = os.read(ours, 4096)
        except OSError:
            break
        if not data:
            break
        shown += data
        if not ended and b"FIRED" in shown:
            script.end()
            ended = True
    assert process.wait(60) == 0
    text = shown.decode()
    assert "running" in text
    assert "Ctrl-C ends the watch" in text
    assert text.rindex("New findings") > text.rindex("Ctrl-C ends the watch")
    os.close(ours)
