"""`cutaway evaluate`: what people see, and what scripts get. The model is one of plain numpy, without a framework."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from cutaway.cli.progress import progress_line
from cutaway.evaluation import Progress, evaluations
from cutaway.run import Run

Cutaway = Callable[..., tuple[int, str, str]]

BINDING = """
import numpy as np
from cutaway.dataset import PreprocessResponse, tensorleap_custom_metric, tensorleap_gt_encoder, leap_binder
from cutaway.dataset import tensorleap_input_encoder, tensorleap_metadata, tensorleap_preprocess

@tensorleap_preprocess()
def preprocess():
    return [PreprocessResponse(length=30, data=seed) for seed in (0, 1)]

@tensorleap_input_encoder("x")
def x(index, subset):
    print("encoding", index)
    BAD
    return np.random.default_rng([subset.data, index]).random(4).astype(np.float32)

@tensorleap_gt_encoder("kind")
def kind(index, subset):
    return np.eye(3, dtype=np.float32)[index % 3]

@tensorleap_metadata("number")
def number(index, subset):
    return index

@tensorleap_custom_metric("top")
def top(prediction):
    return prediction.max(axis=1)

leap_binder.add_prediction("prediction", ["a", "b", "c"])
"""


@pytest.fixture
def binding(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Write a binding, whose model is the numpy one of the tests."""
    from cutaway.evaluation import subject
    from tests.unit.evaluation.linear_model import linear_model

    def opened(given: object, dataset: object, **options: object) -> subject.Subject:
        return subject.Subject(linear_model(), {"format": "linear", "file": str(given)})

    monkeypatch.setattr(subject, "open_subject", opened)

    def write(bad: str = "") -> str:
        (home / "mine.py").write_text(dedent(BINDING.replace("BAD", bad)))
        return "mine.py"

    return write


def test_the_page_has_subsets_scores_where_it_lies_and_what_is_next(
    cutaway: Cutaway, binding: Callable[..., str]
) -> None:
    code, out, err = cutaway("evaluate", binding(), "model.bin")
    assert code == 0
    assert "mine.py (training 30, validation 30) with model.bin" in err
    lines = out.splitlines()
    assert lines[1].split() == ["subset", "samples", "failed", "CategoricalCrossentropyFromLogits", "top"]
    assert lines[2].split()[:3] == ["training", "30", "0"]
    assert "printed" in out
    assert "encoding" not in out
    [run] = Path("runs").iterdir()
    assert f"samples  {run}/samples/0" in out
    assert f"cutaway runs show {run}" in out


def test_failures_are_listed_with_their_place(cutaway: Cutaway, binding: Callable[..., str]) -> None:
    code, out, _ = cutaway("evaluate", binding("assert index != 7, 'too dark'"), "model.bin")
    assert code == 0
    assert "Failed  2 samples, 3.3 %" in out
    assert "training/7" in out
    assert "mine.py:" in out
    assert "too dark" in out


def test_json_is_all_that_stdout_has(cutaway: Cutaway, binding: Callable[..., str]) -> None:
    code, out, _ = cutaway("evaluate", binding(), "model.bin", "--json", "--epoch", "3")
    found = json.loads(out)
    assert (code, found["ok"], found["state"], found["epoch"]) == (0, True, "finished", 3)
    assert found["subsets"]["training"]["samples"] == 30
    assert found["failures"] == []


def test_into_a_run_of_a_training(cutaway: Cutaway, binding: Callable[..., str], home: Path) -> None:
    run = Run.create(home / "runs" / "mnist-1")
    code, out, _ = cutaway("evaluate", binding(), "model.bin", "--into", "mnist", "--subset", "validation")
    assert code == 0
    [evaluation] = evaluations(run)
    assert evaluation.subsets == ["validation"]
    assert "mnist-1" in out


def test_fail_stops_and_the_same_command_goes_on(cutaway: Cutaway, binding: Callable[..., str]) -> None:
    entry = binding("import os; assert index != 20 or os.path.exists('mended'), 'not yet'")
    code, _, err = cutaway("evaluate", entry, "model.bin", "--on-error", "fail", "--batch-size", "5")
    assert code == 2
    assert "'training/20' failed" in err
    assert "--on-error skip" in err
    Path("mended").touch()
    code, _, err = cutaway("evaluate", entry, "model.bin", "--on-error", "fail", "--batch-size", "5")
    assert code == 0
    assert "Going on with evaluation 0 of run" in err
    assert len(list(Path("runs").iterdir())) == 1


def test_a_binding_whose_every_sample_fails_says_so(cutaway: Cutaway, binding: Callable[..., str]) -> None:
    code, _, err = cutaway("evaluate", binding("raise ValueError('no data')"), "model.bin")
    assert code == 2
    assert "no data" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--on-error", "stop"], "`--on-error` must be skip or fail"),
        (["--subset", "trainig"], "Did you mean 'training'"),
        (["--layer", "twic"], "Did you mean 'twice'"),
        (["--into", "nothing"], "No run 'nothing'"),
    ],
)
def test_wrong_words_are_said(cutaway: Cutaway, binding: Callable[..., str], words: list[str], said: str) -> None:
    code, _, err = cutaway("evaluate", binding(), "model.bin", *words)
    assert code == 2
    assert said in err


def test_a_line_of_a_log_has_rate_and_time_left() -> None:
    progress = Progress(30, 120, seconds=60.0, fresh=30, failed=2)
    assert progress_line("evaluate", progress) == "evaluate: 25 %, 30 of 120 samples, 0.5/s, 3 min left, 2 failed"


def test_failures_of_one_cause_are_told_once_with_how_many_there_are(
    cutaway: Cutaway, binding: Callable[..., str]
) -> None:
    bad = "assert index != 3; open(f'/no/{index}') if index > 20 else None"
    code, out, _ = cutaway("evaluate", binding(bad), "model.bin")
    assert code == 0
    page = " ".join(out.split())
    assert "Failed 20 samples" in page
    assert "training/21 mine.py:13: input 'x' failed: FileNotFoundError" in page
    assert "'/no/21' (and 17 more samples so)" in page
    assert "(and 1 more sample so)" in page
    assert page.count("FileNotFoundError") == 1


def test_a_run_that_is_not_there_is_not_made_by_a_slip_of_the_pen(
    cutaway: Cutaway, binding: Callable[..., str]
) -> None:
    code, _, err = cutaway("evaluate", binding(), "model.bin", "--into", "mnst")
    assert code == 2
    assert "No run 'mnst'" in err
    assert "leave it out for a new one" in " ".join(err.split())
    assert not Path("runs").exists() or not list(Path("runs").iterdir())
