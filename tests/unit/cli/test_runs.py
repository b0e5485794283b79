import json
import os
import pty
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutaway.run import Finding, Run, RunState, WriterId
from cutaway.run.documents import read_document, write_document
from cutaway.run.failure import TrainingFailure
from tests.unit.cli.run_folders import write_steps

MakeRun = Callable[..., Run]
Cutaway = Callable[..., tuple[int, str, str]]


def answer(cutaway: Cutaway, *words: str) -> dict[str, Any]:
    code, out, err = cutaway(*words, "--json")
    assert (code, err) == (0, "")
    content = json.loads(out)
    assert content.pop("ok") is True
    return dict(content)


def test_an_empty_folder_explains_how_a_run_comes_to_be(cutaway: Cutaway) -> None:
    code, out, _ = cutaway("runs", "list")
    assert code == 0
    for way in ("cutaway demo", "python examples/torch_hook.py", "cutaway.attach(model, optimizer)"):
        assert way in out
    assert answer(cutaway, "runs", "list") == {"root": "runs", "total": 0, "runs": []}


def test_runs_without_a_command_lists_them(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1")
    # How long ago it ended may pass from one second to the next between the two.
    plain, listed = (re.sub(r"\d+ s\b", "", cutaway(*words)[1]) for words in (("runs",), ("runs", "list")))
    assert plain == listed


def test_the_list_shows_state_steps_and_how_the_loss_went(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1", steps=20)
    make_run("mnist-2", steps=0, state=RunState.FAILED)
    _, out, _ = cutaway("runs", "list", columns=80)
    first = next(line for line in out.splitlines() if "mnist-1" in line)
    assert first.split()[:2] == ["mnist-1", "finished"]
    assert " 20 " in first
    assert "0.1 " in first
    assert "█" in first
    assert "failed" in next(line for line in out.splitlines() if "mnist-2" in line)


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 120])
def test_the_list_fits_the_terminal(columns: int, make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("a-run-with-a-very-long-name-indeed-20261115-101500")
    _, out, _ = cutaway("runs", "list", columns=columns)
    assert max(map(len, out.splitlines())) <= max(columns, 28)


def test_the_newest_runs_are_listed_first_and_the_rest_counted(make_run: MakeRun, cutaway: Cutaway) -> None:
    for i in range(5):
        make_run(f"run-{i}", steps=1)
    _, out, _ = cutaway("runs", "list", "-n", "2")
    assert [line.split()[0] for line in out.splitlines()[1:3]] == ["run-4", "run-3"]
    assert "The newest 2 of 5 in runs" in out
    assert len(answer(cutaway, "runs", "list", "-n", "0")["runs"]) == 5


def test_the_list_gives_the_last_training_loss_though_evaluation_came_last(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1", steps=200, modes=lambda step: "EVAL" if step >= 150 else "TRAIN")
    (run,) = answer(cutaway, "runs", "list")["runs"]
    assert run["loss"]["mode"] == "TRAIN"
    assert run["loss"]["last"] == 2.0 / 150
    assert run["steps"] == 200


def test_a_run_without_scalars_is_listed_by_the_loss_that_the_hook_watched(home: Path, cutaway: Cutaway) -> None:
    run = Run.create(home / "runs" / "mnist-1")
    write_steps(run, range(30))
    for file in (home / "runs" / "mnist-1" / "scalars").iterdir():
        file.unlink()
    (listed,) = answer(cutaway, "runs", "list")["runs"]
    assert listed["loss"]["name"] == "CrossEntropyLoss_output_0"
    assert listed["loss"]["last"] == 2.0 / 30


def test_a_nan_loss_is_told_and_drawn(make_run: MakeRun, cutaway: Cutaway, home: Path) -> None:
    run = make_run("mnist-1", steps=5)
    scalars = run.writer("scalars", WriterId("train", "worker_0", 1))
    scalars.append_rows({"name": ["loss"], "step": [5], "mode": ["TRAIN"], "value": [float("nan")], "time": [0.0]}, 5)
    _, out, _ = cutaway("runs", "list")
    assert "NaN" in out
    assert "x" in out.splitlines()[1].split()[-1]
    assert answer(cutaway, "runs", "list")["runs"][0]["loss"]["last"] == "NaN"


def test_a_folder_of_another_name_is_listed_when_given(make_run: MakeRun, cutaway: Cutaway, home: Path) -> None:
    make_run("mnist-1", steps=1)
    (home / "runs").rename(home / "elsewhere")
    assert answer(cutaway, "runs", "list", "elsewhere")["runs"][0]["path"] == "elsewhere/mnist-1"
    assert cutaway("runs", "show", "elsewhere/mn")[0] == 0


def test_a_run_given_as_the_folder_of_runs_is_pointed_out(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1")
    code, _, err = cutaway("runs", "list", "runs/mnist-1")
    assert code == 2
    assert "`cutaway runs show runs/mnist-1`" in err


def test_listing_reads_only_a_few_places_of_a_long_run(
    make_run: MakeRun, cutaway: Cutaway, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cutaway.run.storage import LocalStorage

    run = make_run("mnist-1", steps=2_000)
    whole = sum(file.stat().st_size for file in run.path.rglob("*.arrow"))
    read = 0
    original = LocalStorage.read

    def counted(self: LocalStorage, key: str, *place: Any) -> bytes:
        nonlocal read
        data = original(self, key, *place)
        read += len(data) if key.endswith(".arrow") else 0
        return data

    monkeypatch.setattr(LocalStorage, "read", counted)
    assert answer(cutaway, "runs", "list")["runs"][0]["steps"] == 2_000
    assert 0 < read < whole / 20


# -- show ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["mnist-1", "mn", "runs/mnist-1", "runs/mn", "./runs/mnist-1"])
def test_a_run_is_found_by_path_name_or_beginning(text: str, make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1")
    assert answer(cutaway, "runs", "show", text)["name"] == "mnist-1"


def test_the_current_folder_may_be_the_run(
    make_run: MakeRun, cutaway: Cutaway, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run("mnist-1")
    monkeypatch.chdir(home / "runs" / "mnist-1")
    assert answer(cutaway, "runs", "show", ".")["name"] == "mnist-1"


def test_a_beginning_that_several_runs_share_is_refused_with_their_names(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1")
    make_run("mnist-2")
    code, _, err = cutaway("runs", "show", "mn")
    assert code == 2
    assert "'mnist-1', 'mnist-2'" in err


def test_a_misspelt_name_offers_the_nearest(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1")
    code, _, err = cutaway("runs", "show", "mnits-1")
    assert code == 2
    assert "Did you mean 'mnist-1'?" in err


def test_show_tells_the_run_on_one_page(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1", modes=lambda step: "EVAL" if step % 10 == 9 else "TRAIN", thinned=lambda step: int(step == 7))
    _, out, _ = cutaway("runs", "show", "mnist-1", columns=100)
    for words in (
        "Completed normally",
        "TRAIN 18 · EVAL 2 in 2 epochs · 1 step thinned out",
        "optimizer.lr",
        "weights 2",
        "gradients 2",
        "Findings  none",
        "Next: cutaway tensors runs/mnist-1",
    ):
        assert words in out
    facts = answer(cutaway, "runs", "show", "mnist-1")
    assert facts["steps"] == {
        "recorded": 20,
        "last": 19,
        "by_mode": {"TRAIN": 18, "EVAL": 2},
        "epochs": 2,
        "with_statistics": 20,
        "thinned": 1,
        "workers": ["worker_0"],
    }
    assert facts["config"]["optimizer"]["lr"] == 0.1
    assert facts["collections"][1] == {"name": "weights", "tensors": 2}


STATES = [
    (RunState.FINISHED, "Completed normally", "cutaway tensors runs/mnist-1"),
    (RunState.FAILED, "An exception ended the training; everything up to step 19 is here", "cutaway tensors"),
    (RunState.ENDED, "ended without closing the hook, which `with Hook(...)` does", "cutaway tensors runs/mnist-1"),
    (RunState.LOST, "no sign of life", "resume=True"),
    (RunState.CRASHED, "gone without a word", "Hook(out_dir='runs/mnist-1', resume=True)"),
]


@pytest.mark.parametrize(("state", "meaning", "following"), STATES, ids=[state for state, *_ in STATES])
def test_every_ending_is_explained_with_what_comes_next(
    state: RunState, meaning: str, following: str, make_run: MakeRun, cutaway: Cutaway
) -> None:
    make_run("mnist-1", state=state)
    facts = answer(cutaway, "runs", "show", "mnist-1")
    assert facts["state"] == state
    assert meaning in facts["meaning"]
    assert following in facts["next"]
    # A command can be copied as it stands.
    assert not facts["next"].startswith("cutaway") or facts["next"] == "cutaway tensors runs/mnist-1"
    assert cutaway("runs", "show", "mnist-1")[0] == 0


def test_a_failed_run_shows_its_traceback(make_run: MakeRun, cutaway: Cutaway) -> None:
    run = make_run("mnist-1", running=True)
    lease = read_document(run.storage, "leases/train-worker_0-0.json")
    failure = TrainingFailure("ValueError", "shapes differ", "Traceback\n  File x\nValueError: shapes differ")
    ended = {**lease, "state": "failed", "error": failure._asdict()}
    write_document(run.storage, "leases/train-worker_0-0.json", ended)
    _, out, _ = cutaway("runs", "show", "mnist-1", columns=100)
    assert "ValueError: shapes differ; everything up to step 19 is here" in out
    assert "  Traceback\n    File x\n  ValueError: shapes differ\n" in out
    assert answer(cutaway, "runs", "show", "mnist-1")["failure"] == failure._asdict()


def test_a_live_run_names_its_process(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1", running=True)
    facts = answer(cutaway, "runs", "show", "mnist-1")
    assert facts["state"] == "running"
    assert f"Process {os.getpid()} on " in facts["meaning"]
    assert facts["next"].endswith("--follow")


def test_findings_are_told_in_words_the_worst_first(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run(
        "mnist-1",
        findings=[
            Finding("capture-thinned", "warning", "One in 2 steps is recorded from now on.", {"step": 7}),
            Finding("capture-stopped", "error", "The disk is full.", {"step": 9}),
        ],
    )
    lines = cutaway("runs", "show", "mnist-1")[1].splitlines()
    at = lines.index("Health  sick since step 9: 1 error, and 1 warning")
    assert lines[at + 1] == "  error    capture-stopped (step 9): The disk is full."
    assert lines[at + 2] == "  warning  capture-thinned (step 7): One in 2 steps is recorded from now on."


def test_what_is_not_among_the_most_telling_follows_below(make_run: MakeRun, cutaway: Cutaway) -> None:
    codes = ["capture-stopped", "capture-thinned", "tensors-refused", "writer-behind", "replaced"]
    make_run("mnist-1", findings=[Finding(code, "warning", f"{code}.", {"step": i}) for i, code in enumerate(codes)])
    lines = cutaway("runs", "show", "mnist-1")[1].splitlines()
    told, more = lines.index("Health  5 warnings, the first at step 0"), lines.index("More findings")
    assert [line.split()[1] for line in lines[told + 1 : told + 4]] == codes[:3]
    assert [line.split()[1] for line in lines[more + 1 : more + 3]] == codes[3:]


def test_attempts_are_told_where_there_are_several(make_run: MakeRun, cutaway: Cutaway) -> None:
    run = make_run("mnist-1", state=RunState.CRASHED)
    number, lease = run.begin_attempt(from_step=10)
    write_steps(run, range(10, 15), attempt=number)
    lease.release(RunState.FINISHED)
    facts = answer(cutaway, "runs", "show", "mnist-1")
    assert [attempt["from_step"] for attempt in facts["attempts"]] == [0, 10]
    assert facts["steps"]["recorded"] == 15
    assert "2: 0 from step 0, 1 from step 10" in cutaway("runs", "show", "mnist-1")[1]
    assert answer(cutaway, "runs", "list")["runs"][0]["steps"] == 15


def test_damage_is_named_and_the_rest_still_shown(make_run: MakeRun, cutaway: Cutaway) -> None:
    run = make_run("mnist-1")
    segment = next((run.path / "scalars").glob("*.arrow"))
    data = bytearray(segment.read_bytes())
    data[-20] ^= 1
    segment.write_bytes(data)
    facts = answer(cutaway, "runs", "show", "mnist-1")
    assert facts["damage"][0]["path"].startswith("scalars/")
    assert facts["steps"]["recorded"] == 20
    assert "Damage" in cutaway("runs", "show", "mnist-1")[1]


@pytest.mark.parametrize("document", ["run.json", "trace/collections.json"])
def test_a_damaged_document_costs_its_content_only(document: str, make_run: MakeRun, cutaway: Cutaway) -> None:
    run = make_run("mnist-1")
    (run.path / document).write_text('{"broken": ')
    facts = answer(cutaway, "runs", "show", "mnist-1")
    assert document in [one["path"] for one in facts["damage"]]
    assert facts["steps"]["recorded"] == 20
    assert cutaway("runs", "show", "mnist-1")[0] == 0
    assert cutaway("runs", "list")[0] == 0
    assert cutaway("tensors", "mnist-1")[0] == 0


def test_verify_reads_every_byte(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1")
    assert "Every byte" in cutaway("runs", "show", "mnist-1", "--verify")[1]
    assert answer(cutaway, "runs", "show", "mnist-1", "--verify")["damage"] == []


def test_a_run_that_was_only_created_can_be_shown(home: Path, cutaway: Cutaway) -> None:
    Run.create(home / "runs" / "empty")
    assert "none yet" in cutaway("runs", "show", "empty")[1]


def test_names_and_settings_cannot_steer_the_terminal(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1", config={"evil\x1b[2J": "\x1b]0;title\x07"}, names=["w\x1b[31m.weight"])
    for words in (("runs", "show", "mnist-1"), ("tensors", "mnist-1"), ("runs", "compare", "mnist-1", "mnist-1")):
        code, out, _ = cutaway(*words)
        assert code == 0
        assert "\x1b" not in out
        assert "\x07" not in out


# -- compare, size ------------------------------------------------------------------------------------------------


def test_compare_shows_what_was_set_differently_and_where_scalars_ended(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1", steps=10)
    make_run("mnist-2", steps=20, config={"batch_size": 64, "optimizer": {"name": "Adam", "lr": 0.1}, "seed": 3})
    compared = answer(cutaway, "runs", "compare", "mnist-1", "mnist-2")
    assert compared["config"]["different"] == {"optimizer.name": ["SGD", "Adam"], "seed": [None, 3]}
    assert compared["config"]["equal"] == {"batch_size": 64, "optimizer.lr": 0.1}
    assert compared["scalars"]["loss"] == [0.2, 0.1]
    assert [run["steps"] for run in compared["runs"]] == [10, 20]
    _, out, _ = cutaway("runs", "compare", "mnist-1", "mnist-2", columns=60)
    assert "optimizer.name" in out
    assert "batch_size" not in out
    assert "2 settings equal" in out
    assert "batch_size" in cutaway("runs", "compare", "mnist-1", "mnist-2", "--all")[1]


def test_compare_of_equal_runs_says_so(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1")
    assert answer(cutaway, "runs", "compare", "mnist-1", "mnist-1")["config"]["different"] == {}
    assert cutaway("runs", "compare", "mnist-1", "mnist-1", "mnist-1")[0] == 0


def test_size_counts_the_bytes_of_each_part(make_run: MakeRun, cutaway: Cutaway) -> None:
    run = make_run("mnist-1")
    sizes = answer(cutaway, "runs", "size", "mnist-1")
    assert sizes["bytes"] == sum(file.stat().st_size for file in run.path.rglob("*") if file.is_file())
    assert sizes["bytes"] == sum(sizes["parts"].values())
    assert "trace/statistics" in cutaway("runs", "size", "mnist-1")[1]


# -- prune, rm ----------------------------------------------------------------------------------------------------


def test_nothing_is_removed_without_a_yes(make_run: MakeRun, cutaway: Cutaway, home: Path) -> None:
    make_run("mnist-1")
    for words in (("runs", "rm", "mnist-1"), ("runs", "prune", "--keep", "0"), ("runs", "rm", "mnist-1", "--json")):
        code, _, err = cutaway(*words)
        assert code == 2
        assert "Nothing was removed." in err
        assert "--yes" in err
    assert (home / "runs" / "mnist-1" / "run.json").exists()


def test_rm_removes_one_run(make_run: MakeRun, cutaway: Cutaway, home: Path) -> None:
    make_run("mnist-1")
    make_run("mnist-2")
    code, out, _ = cutaway("runs", "rm", "mnist-1", "--yes")
    assert code == 0
    assert "mnist-1" in out
    assert [run.name for run in (home / "runs").iterdir()] == ["mnist-2"]


def test_prune_keeps_the_newest_and_whatever_is_being_written(make_run: MakeRun, cutaway: Cutaway, home: Path) -> None:
    make_run("run-0", running=True)
    for i in range(1, 5):
        make_run(f"run-{i}", steps=1)
    removed = answer(cutaway, "runs", "prune", "--keep", "2", "--yes")
    assert sorted(removed["removed"]) == ["runs/run-1", "runs/run-2"]
    assert sorted(run.name for run in (home / "runs").iterdir()) == ["run-0", "run-3", "run-4"]


def test_prune_with_nothing_to_do_says_so(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1")
    assert cutaway("runs", "prune", "--keep", "5") == (0, "Nothing to remove.\n", "")


def test_a_run_that_is_being_written_is_not_removed(make_run: MakeRun, cutaway: Cutaway, home: Path) -> None:
    make_run("mnist-1", running=True)
    code, _, err = cutaway("runs", "rm", "mnist-1", "--yes")
    assert code == 2
    assert "is being written" in err
    assert (home / "runs" / "mnist-1").exists()


@pytest.mark.parametrize(("reply", "left"), [("y\n", False), ("n\n", True), ("\n", True), ("\x03", True)])
def test_a_terminal_is_asked_first(reply: str, left: bool, make_run: MakeRun, home: Path) -> None:
    make_run("mnist-1")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(home)
        os.execv(sys.executable, [sys.executable, "-m", "cutaway", "runs", "rm", "mnist-1"])
    seen = b""
    while b"[y/N]" not in seen:
        seen += os.read(terminal, 1024)
    ended, status = 0, 0
    while not ended:
        os.write(terminal, reply.encode())
        # A key is pressed again only for Ctrl-C: in one run of the whole suite the first was not heard.
        deadline = time.monotonic() + (2 if reply == "\x03" else 60)
        while not ended and time.monotonic() < deadline:
            ended, status = os.waitpid(pid, os.WNOHANG)
            time.sleep(0.01)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == (130 if reply == "\x03" else 0)
    assert (home / "runs" / "mnist-1").exists() == left


def test_tags_and_notes_are_written_listed_and_shown(cutaway: Cutaway, make_run: MakeRun) -> None:
    make_run("mnist-1")
    assert "tags" not in cutaway("runs", "list")[1]
    assert cutaway("runs", "tag", "mnist-1", "good", " night ", "good")[0] == 0
    assert cutaway("runs", "note", "mnist-1", "first\nsecond")[0] == 0
    assert "good, night" in cutaway("runs", "list")[1]
    shown = cutaway("runs", "show", "mnist-1")[1]
    assert "good, night" in shown
    assert "first" in shown
    listed = json.loads(cutaway("runs", "list", "--json")[1])
    assert listed["runs"][0]["tags"] == ["good", "night"]
    code, out, _ = cutaway("runs", "tag", "mnist-1", "good", "--remove", "--json")
    assert code == 0
    assert json.loads(out)["tags"] == ["night"]
    assert json.loads(cutaway("runs", "note", "mnist-1", "", "--json")[1])["note"] == ""


def test_annotations_that_are_damaged_are_named_and_kept(cutaway: Cutaway, make_run: MakeRun) -> None:
    run = make_run("mnist-1")
    cutaway("runs", "note", "mnist-1", "precious")
    path = run.path / "annotations.json"
    path.write_bytes(path.read_bytes().replace(b"precious", b"precioux"))
    code, out, _ = cutaway("runs", "show", "mnist-1")
    assert code == 0
    assert "annotations.json" in out
    assert cutaway("runs", "list")[0] == 0
    code, _, err = cutaway("runs", "note", "mnist-1", "new")
    assert code != 0
    assert "annotations.json" in err
    assert b"precioux" in path.read_bytes()
