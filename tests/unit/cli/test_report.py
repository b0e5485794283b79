"""`cutaway report`: one page of a run, written whole, whatever the run holds and whatever is damaged."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cutaway.cli import report_content
from cutaway.errors import AnalysisUnavailable, EvaluationError
from cutaway.run import Finding
from tests.unit.analysis.figures.reading_pages import Page
from tests.unit.analysis.kinds import evaluated_kind
from tests.unit.cli.conftest import Cutaway, MakeRun

pytest.importorskip("torch")


@pytest.fixture
def animals(home: Path) -> Path:
    folder, _ = evaluated_kind("probabilities", home / "runs" / "animals")
    return folder


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the parts that take no time; the analyses have their own tests."""
    from cutaway.analysis.population import whole

    kept = [one for one in whole.analyses() if one.name in ("confusion", "curve", "batches")]
    monkeypatch.setattr(whole, "analyses", lambda: kept)


def shown(path: Path) -> str:
    return Page(path.read_text(encoding="utf-8")).shown


@pytest.mark.usefixtures("quick")
def test_an_evaluated_run_has_a_report_in_its_folder(cutaway: Cutaway, animals: Path) -> None:
    code, out, err = cutaway("report", "animals")
    assert (code, err) == (0, "")
    assert "written  runs/animals/reports/report.html" in out
    text = shown(animals / "reports" / "report.html")
    for words in ("animals", "Accuracy is", "on validation (95 % interval", "Which classes are predicted as which"):
        assert words in text
    assert "The run holds an evaluation only" in text
    assert sorted(path.name for path in (animals / "reports").iterdir()) == ["report.html"]


@pytest.mark.usefixtures("quick")
def test_it_goes_where_it_is_told_and_answers_in_json(cutaway: Cutaway, animals: Path, home: Path) -> None:
    code, out, _ = cutaway("report", "animals", "--out", "mail/animals.html", "--json")
    answer = json.loads(out)
    path = home / "mail" / "animals.html"
    assert (code, answer["ok"], answer["file"]) == (0, True, "mail/animals.html")
    assert answer["bytes"] == path.stat().st_size < 5_000_000
    assert not (animals / "reports").exists()


def test_everything_of_a_run_comes_into_the_report(cutaway: Cutaway, animals: Path) -> None:
    """With all analyses, as a user runs it."""
    (animals / "tests.yaml").write_text("version: 1\ntests:\n- accuracy at least 0.999\n", encoding="utf-8")
    code, _, err = cutaway("report", "animals")
    assert code == 0, err
    page = Page((animals / "reports" / "report.html").read_text(encoding="utf-8"))
    assert "The map of the samples" in page.shown
    assert "accuracy at least 0.999" in page.shown
    assert sum(tag == "img" for tag, _ in page.elements) >= 3


def test_a_run_without_an_evaluation_has_a_report_of_its_training(cutaway: Cutaway, make_run: MakeRun) -> None:
    run = make_run(findings=[Finding("DeadRelu", "warning", "half of relu_1 is dead", where={"step": 7})])
    code, _, err = cutaway("report", run.name)
    assert (code, err) == (0, "")
    text = shown(run.path / "reports" / "report.html")
    for words in ("half of relu_1 is dead", "Training", "learning_rate", "batch_size", "run  cutaway evaluate"):
        assert words in text


@pytest.mark.parametrize("damaged", ["trace/steps", "scalars", "findings"])
def test_a_damaged_run_has_a_report_that_names_the_damage(cutaway: Cutaway, make_run: MakeRun, damaged: str) -> None:
    run = make_run(findings=[Finding("DeadRelu", "warning", "dead")])
    file = next((run.path / damaged).glob("*.arrow"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(bytes(content))
    code, _, err = cutaway("report", run.name)
    assert (code, err) == (0, "")
    text = shown(run.path / "reports" / "report.html")
    assert "The run is damaged in 1 place" in text
    assert file.name in text


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("file", ["source.json", "training.parquet", "validation.latent.npy"])
def test_a_damaged_evaluation_costs_the_samples_and_nothing_else(cutaway: Cutaway, animals: Path, file: str) -> None:
    path = animals / "samples" / "0" / file
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    code, _, err = cutaway("report", "animals")
    assert (code, err) == (0, "")
    assert "What does not apply, and why" in shown(animals / "reports" / "report.html")


@pytest.mark.usefixtures("quick")
def test_tests_that_cannot_be_read_are_said(cutaway: Cutaway, animals: Path) -> None:
    (animals / "tests.yaml").write_text("tests: [what is this]", encoding="utf-8")
    assert cutaway("report", "animals")[0] == 0
    assert "tests on slices" in shown(animals / "reports" / "report.html")


def test_what_one_analysis_raises_keeps_the_others(
    cutaway: Cutaway, animals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cutaway.analysis.population import whole

    def fail(*_: object) -> whole.AnalysisResult:
        raise EvaluationError("the latent vectors are gone.")

    kept = [one for one in whole.analyses() if one.name in ("curve", "confusion", "batches")]
    for one in kept[1:]:
        monkeypatch.setattr(one, "make", fail)
    monkeypatch.setattr(whole, "analyses", lambda: kept)
    assert cutaway("report", "animals")[0] == 0
    text = shown(animals / "reports" / "report.html")
    assert "The latent vectors are gone." in text
    assert "What the loss goes with" in text


@pytest.mark.usefixtures("quick")
def test_a_figure_that_cannot_be_drawn_costs_itself(
    cutaway: Cutaway, animals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AnalysisUnavailable("figure", "there is no colour left.")

    monkeypatch.setattr(report_content, "_drawn", fail)
    assert cutaway("report", "animals")[0] == 0
    assert "there is no colour left" in shown(animals / "reports" / "report.html")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody",), "No run 'nobody'"),
        (("animals", "--evaluation", "7"), "no evaluation 7"),
        (("animals", "--out", "runs"), "'runs' is a folder"),
    ],
)
@pytest.mark.usefixtures("animals")
def test_what_is_wrong_is_said(cutaway: Cutaway, words: tuple[str, ...], said: str) -> None:
    code, _, err = cutaway("report", *words)
    assert code == 2
    assert said in err


@pytest.mark.usefixtures("quick")
def test_no_path_of_this_machine_is_in_the_report(cutaway: Cutaway, animals: Path, home: Path) -> None:
    cutaway("report", "animals")
    assert str(home) not in (animals / "reports" / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("quick")
def test_a_run_that_holds_a_report_can_still_be_removed(cutaway: Cutaway, animals: Path) -> None:
    cutaway("report", "animals")
    assert cutaway("runs", "rm", "animals", "--yes")[0] == 0
    assert not animals.exists()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_a_killed_report_leaves_the_old_one_or_a_whole_one(make_run: MakeRun, home: Path) -> None:
    run = make_run()
    code = (
        "import os, pathlib, sys; from cutaway.cli import main; main(['report', sys.argv[1]]);"
        "old = pathlib.Path.replace;"
        "pathlib.Path.replace = lambda self, to: (print('now', flush=True), __import__('time').sleep(60));"
        "main(['report', sys.argv[1]])"
    )
    started = subprocess.Popen([sys.executable, "-c", code, str(run.path)], cwd=home, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    for line in started.stdout:
        if line.startswith("now"):
            break
    os.kill(started.pid, signal.SIGKILL)
    started.wait(timeout=60)
    started.stdout.close()
    folder = run.path / "reports"
    assert Page((folder / "report.html").read_text(encoding="utf-8")).shown
    assert len(list(folder.iterdir())) == 2
    again = subprocess.run([sys.executable, "-m", "cutaway", "report", str(run.path)], cwd=home, check=False)
    assert again.returncode == 0
    assert [path.name for path in folder.iterdir()] == ["report.html"]
