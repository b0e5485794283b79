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

from cutaway.cli import tensors as command
from cutaway.run import Run, RunState
from tests.unit.cli.run_folders import TENSORS, statistics_row, write_steps

MakeRun = Callable[..., Run]
Cutaway = Callable[..., tuple[int, str, str]]


def rows(cutaway: Cutaway, *words: str) -> list[dict[str, Any]]:
    code, out, err = cutaway("tensors", *words, "--json")
    assert (code, err) == (0, "")
    return list(json.loads(out)["tensors"])


def test_every_tensor_has_its_last_statistics(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1", steps=20)
    found = rows(cutaway, "mnist-1")
    assert {row["name"] for row in found} == set(TENSORS)
    row = next(row for row in found if row["name"] == "gradient/Net_fc.weight")
    expected = statistics_row("gradient/Net_fc.weight", 19)
    assert row["step"] == 19
    assert row["size"] == expected["size"]
    assert row["collections"] == ["gradients"]
    assert {key: row["statistics"][key] for key in ("min", "max", "mean", "std", "l1", "l2", "zeros")} == {
        key: expected[key] for key in ("min", "max", "mean", "std", "l1", "l2", "zeros")
    }
    assert row["statistics"]["change"] is None
    assert row["series"] == pytest.approx([statistics_row("gradient/Net_fc.weight", step)["l2"] for step in range(20)])


def test_tensors_stand_under_their_collection_in_the_order_of_the_model(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1")
    _, out, _ = cutaway("tensors", "mnist-1")
    lines = [line.split()[0] for line in out.splitlines() if line][3:]
    assert lines == [
        "losses",
        "CrossEntropyLoss_output_0",
        "gradients",
        "gradient/Net_conv1.weight",
        "gradient/Net_fc.weight",
        "weights",
        "Net_conv1.weight",
        "Net_fc.weight",
        "biases",
        "Net_conv1.bias",
    ]


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 120, 200])
def test_the_page_fits_the_terminal(columns: int, make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1", nonfinite=lambda name, step: int("conv1" in name and step > 10))
    _, out, _ = cutaway("tensors", "mnist-1", columns=columns)
    table = out.split("\n\n")[1]
    assert max(map(len, table.splitlines())) <= columns


def test_nothing_is_cut_where_the_output_is_a_pipe(make_run: MakeRun, home: Path) -> None:
    name = "gradient/" + "block." * 40 + "weight"
    make_run("mnist-1", names=[name])
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    shell = [sys.executable, "-m", "cutaway", "tensors", "mnist-1"]
    done = subprocess.run(shell, cwd=home, env=environment, capture_output=True, text=True, check=True)
    assert name in done.stdout
    assert "\x1b" not in done.stdout


def test_it_says_how_many_steps_are_recorded_and_how_many_were_thinned(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1", thinned=lambda step: 3 if step in (5, 9) else 0)
    _, out, _ = cutaway("tensors", "mnist-1")
    assert "20 steps recorded (TRAIN 20), 6 thinned" in out


def test_values_that_are_not_finite_are_loud(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1", nonfinite=lambda name, step: 5 if name == "Net_fc.weight" and step >= 12 else 0)
    _, out, _ = cutaway("tensors", "mnist-1")
    line = next(line for line in out.splitlines() if line.startswith("  Net_fc.weight"))
    assert "5 of 72 from step 12" in line
    assert "xxx" in line
    assert "NOT FINITE: 1 tensor, first Net_fc.weight at step 12." in out
    row = next(row for row in rows(cutaway, "mnist-1") if row["name"] == "Net_fc.weight")
    assert (row["nonfinite_steps"], row["first_nonfinite_step"], row["statistics"]["nonfinite"]) == (8, 12, 5)
    assert row["series"][12] == "NaN"


def test_a_tensor_that_was_not_finite_once_is_still_told(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1", steps=500, nonfinite=lambda name, step: int(name == "Net_fc.weight" and step == 250))
    _, out, _ = cutaway("tensors", "mnist-1")
    line = next(line for line in out.splitlines() if line.startswith("  Net_fc.weight"))
    assert "1 step from step 250" in line
    assert line.count("x") == 1


def test_a_tensor_without_any_finite_value_is_shown(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1", nonfinite=lambda name, _: 1 if "Loss" in name else 0)
    assert "NaN" in cutaway("tensors", "mnist-1", "--collection", "losses")[1]


def test_a_healthy_run_is_quiet_about_faults(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1")
    out = cutaway("tensors", "mnist-1", columns=200)[1].lower()
    assert "finite" not in out
    assert "damage" not in out


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["--regex", "fc"], {"Net_fc.weight", "gradient/Net_fc.weight"}),
        (["--regex", r"^Net.*\.bias$"], {"Net_conv1.bias"}),
        (["--collection", "gradients"], {"gradient/Net_conv1.weight", "gradient/Net_fc.weight"}),
        (["--collection", "weights", "--regex", "fc"], {"Net_fc.weight"}),
        (["--collection", "all"], set(TENSORS)),
    ],
)
def test_a_choice_narrows_what_is_shown(words: list[str], names: set[str], make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1")
    assert {row["name"] for row in rows(cutaway, "mnist-1", *words)} == names


@pytest.mark.parametrize("statistic", ["min", "max", "mean", "std", "l1", "abs_min", "zeros", "nonfinite"])
def test_any_statistic_can_be_drawn(statistic: str, make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1", steps=5)
    row = rows(cutaway, "mnist-1", "--statistic", statistic, "--regex", "^Net_fc")[0]
    assert row["series"] == pytest.approx([statistics_row("Net_fc.weight", step)[statistic] for step in range(5)])


def test_a_statistic_that_was_not_recorded_leaves_a_gap_and_no_fault(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1", steps=300)
    row = rows(cutaway, "mnist-1", "--statistic", "change", "--regex", "^Net_fc")[0]
    assert set(row["series"]) == {None}


def test_the_values_of_one_step_can_be_asked_for(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1")
    found = rows(cutaway, "mnist-1", "--step", "7")
    assert {row["step"] for row in found} == {7}
    assert found[-1]["statistics"]["l2"] == statistics_row("Net_conv1.bias", 7)["l2"]
    assert cutaway("tensors", "mnist-1", "--step", "7")[1].splitlines()[3].startswith("step 7 ")


BAD = [
    (["--regex", "cnov1"], "Did you mean 'conv1'"),
    (["--regex", "["], "valid regular expression"),
    (["--collection", "wieghts"], "Did you mean 'weights'"),
    (["--collection", "outputs"], "Those that do: biases, gradients, losses, weights."),
    (["--statistic", "l3"], "Did you mean 'l2' or 'l1'?"),
    (["--step", "500"], "The nearest are those of step 19; they go from 0 to 19."),
    (["--step", "-1"], "The nearest are those of step 0;"),
    (["--mode", "trian"], "'TRAIN'"),
    (["--mode", "predict"], "It has TRAIN (20 steps)."),
    (["--worker", "worker_7"], "It has worker_0."),
    (["--follow", "--step", "3"], "give one of them"),
]


@pytest.mark.parametrize(("words", "said"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_a_wrong_choice_is_refused_with_the_nearest_right_one(
    words: list[str], said: str, make_run: MakeRun, cutaway: Cutaway
) -> None:
    make_run("mnist-1")
    code, out, err = cutaway("tensors", "mnist-1", *words)
    assert (code, out) == (2, "")
    assert said in err.replace("\n", " ")


def test_training_steps_are_shown_unless_another_mode_is_asked(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1", modes=lambda step: "EVAL" if step >= 15 else "TRAIN")
    assert {row["step"] for row in rows(cutaway, "mnist-1")} == {14}
    assert {row["step"] for row in rows(cutaway, "mnist-1", "--mode", "eval")} == {19}
    assert {row["step"] for row in rows(cutaway, "mnist-1", "--step", "17")} == {17}
    assert "`--mode EVAL` for the others" in cutaway("tensors", "mnist-1")[1]


def test_one_worker_of_several_is_shown(make_run: MakeRun, cutaway: Cutaway) -> None:
    run = make_run("mnist-1", steps=5)
    write_steps(run, range(8), worker="worker_1")
    assert {row["step"] for row in rows(cutaway, "mnist-1")} == {4}
    assert {row["step"] for row in rows(cutaway, "mnist-1", "--worker", "worker_1")} == {7}
    assert "worker_0 of 2 workers" in cutaway("tensors", "mnist-1")[1]


def test_each_step_comes_from_the_newest_attempt(make_run: MakeRun, cutaway: Cutaway) -> None:
    run = make_run("mnist-1", steps=20, state=RunState.CRASHED)
    number, lease = run.begin_attempt(from_step=10)
    write_steps(run, range(10, 12), attempt=number)
    lease.release(RunState.FINISHED)
    assert {(row["step"], row["steps"]) for row in rows(cutaway, "mnist-1")} == {(11, 12)}


@pytest.mark.parametrize(
    ("running", "said"), [(True, "they appear with the first step"), (False, "ended before its first step")]
)
def test_a_run_without_statistics_says_why(running: bool, said: str, make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1", steps=0, running=running)
    code, out, _ = cutaway("tensors", "mnist-1")
    assert code == 0
    assert said in out
    assert rows(cutaway, "mnist-1") == []


def test_damage_is_told_and_the_rest_shown(make_run: MakeRun, cutaway: Cutaway) -> None:
    run = make_run("mnist-1")
    segment = next((run.path / "trace" / "statistics").glob("*.arrow"))
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 4
    segment.write_bytes(data)
    _, out, _ = cutaway("tensors", "mnist-1")
    assert "Damaged: 1 place of the trace" in out
    assert "Net_fc.weight" in out


# -- live ---------------------------------------------------------------------------------------------------------


def test_following_shows_growth_until_the_training_ends(home: Path) -> None:
    run = Run.create(home / "runs" / "mnist-1")
    _, lease = run.begin_attempt(from_step=0)
    write_steps(run, range(3), close=False)
    shell = [sys.executable, "-m", "cutaway", "tensors", "mnist-1", "--follow", "--json"]
    process = subprocess.Popen(shell, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    first = json.loads(process.stdout.readline())
    write_steps(run, range(3, 6), attempt=1, close=False)
    second = json.loads(process.stdout.readline())
    lease.release(RunState.FINISHED)
    last = json.loads(process.stdout.readlines()[-1])
    assert process.wait(timeout=60) == 0
    assert [snapshot["last_step"] for snapshot in (first, second, last)] == [2, 5, 5]
    assert [snapshot["state"] for snapshot in (first, second, last)] == ["running", "running", "finished"]


def test_following_in_a_log_prints_a_line_now_and_then_and_the_page_at_the_end(
    home: Path, cutaway: Cutaway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "REFRESH_SECONDS", 0.01)
    run = Run.create(home / "runs" / "mnist-1")
    _, lease = run.begin_attempt(from_step=0)
    write_steps(run, range(4))
    timer = threading.Timer(0.5, lease.release, [RunState.FINISHED])
    timer.start()
    code, out, err = cutaway("tensors", "mnist-1", "--follow")
    assert code == 0
    assert err == "mnist-1: running, step 3, loss 0.5\n"
    assert out.startswith("mnist-1  finished")


def test_following_a_finished_run_shows_it_once(make_run: MakeRun, cutaway: Cutaway) -> None:
    make_run("mnist-1", nonfinite=lambda name, _: int("fc" in name))
    code, out, err = cutaway("tensors", "mnist-1", "--follow")
    assert (code, out.count("mnist-1  finished")) == (0, 1)
    assert "NOT FINITE: 2 tensors" in err


def test_a_terminal_shows_colours_unless_told_not_to(make_run: MakeRun, home: Path) -> None:
    make_run("mnist-1", nonfinite=lambda name, _: int("fc" in name))
    assert b"\x1b[" in _in_terminal(home, {"NO_COLOR": ""})
    colours = _in_terminal(home, {"NO_COLOR": "1"})
    assert b"\x1b[1;31m" not in colours
    assert b"[31m" not in colours


def _in_terminal(home: Path, more: dict[str, str]) -> bytes:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **more}
    shell = [sys.executable, "-m", "cutaway", "tensors", "mnist-1", "--follow"]
    process = subprocess.Popen(shell, cwd=home, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = b""
    try:
        while more_bytes := os.read(ours, 65536):
            seen += more_bytes
    except OSError:
        pass  # Linux ends the reading of a terminal so when its last writer has gone
    assert process.wait(timeout=60) == 0
    os.close(ours)
    return seen
