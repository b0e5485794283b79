"""A binding is opened again as it was opened for the evaluation, and said to have changed only where it did."""

from __future__ import annotations

from pathlib import Path

import pytest

import cutaway
from cutaway.dataset import load_entry
from cutaway.evaluation import evaluate
from cutaway.evaluation.reopening import reopen_dataset
from cutaway.run.evaluations import Evaluation, evaluations, write_source
from scripts.requirements import ROOT

EXAMPLE = ROOT / "examples" / "bind_digits"


@pytest.fixture
def binding(tmp_path: Path) -> Path:
    """A folder with a binding whose `leap.yaml` names a file that nothing imports."""
    folder = tmp_path / "binding"
    folder.mkdir()
    (folder / "leap_binder.py").write_text((EXAMPLE / "leap_binder.py").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "classes.txt").write_text("ten of them", encoding="utf-8")
    (folder / "leap.yaml").write_text("entryFile: leap_binder.py\ninclude:\n  - '*'\n", encoding="utf-8")
    return folder


def evaluated(path: Path, run: Path, subset: str = "test") -> Evaluation:
    result = evaluate(load_entry(path).dataset(), EXAMPLE / "model.onnx", run, subsets=[subset], workers=1)
    return evaluations(result.run)[-1]


@pytest.mark.parametrize("way", [".", "leap_binder.py", "leap.yaml"])
def test_a_binding_that_nobody_changed_is_as_it_was_however_it_was_named(
    binding: Path, tmp_path: Path, way: str
) -> None:
    assert reopen_dataset(evaluated(binding / way, tmp_path / "run"))[1] == []


@pytest.mark.parametrize("file", ["leap_binder.py", "classes.txt"])
def test_a_binding_that_was_changed_is_said(binding: Path, tmp_path: Path, file: str) -> None:
    evaluation = evaluated(binding, tmp_path / "run")
    with (binding / file).open("a", encoding="utf-8") as changed:
        changed.write("\n# another line\n")
    [note] = reopen_dataset(evaluation)[1]
    assert "changed since the evaluation" in note


def test_a_run_of_the_demo_from_before_its_binding_moved_is_opened_by_the_one_that_is_there(tmp_path: Path) -> None:
    package = Path(cutaway.__file__).parent
    evaluation = evaluated(package / "demo" / "binding" / "leap_binder.py", tmp_path / "run", "validation")
    content = evaluation.run.document("samples/0/source.json")
    assert content is not None
    content["binding"]["entry_file"] = str(package / "cli" / "demo_binding" / "leap_binder.py")
    write_source(evaluation, content)
    dataset, _ = reopen_dataset(evaluations(evaluation.run)[-1])
    assert Path(dataset.source["entry_file"]) == package / "demo" / "binding" / "leap_binder.py"
