"""Case 29: ids of samples are anybody's text. They stay as they are, and name no file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from cutaway.cli import main
from cutaway.dataset import Binder, Dataset, PreprocessResponse
from cutaway.errors import BindingError
from cutaway.evaluation import check, evaluate
from cutaway.run import Run
from tests.unit.evaluation.linear_model import linear_model

IDS = {
    "slashes": "a/b/c",
    "a parent": "../../../etc/passwd",
    "an absolute path": "/etc/passwd",
    "an encoded parent": "%2e%2e%2f",
    "backslashes": "..\\..\\windows",
    "a newline": "one\ntwo",
    "a carriage return": "one\rtwo",
    "a NUL": "one\0two",
    "an escape": "\x1b[2J\x1b[31mred",
    "10 kB": "x" * 10_000,
    "emoji": "🦉🦉",
    "right to left": "\u202eabc",
    "nothing but spaces": "   ",
    "nothing": "",
    "a dot": ".",
    "a quote": "a'b\"c",
    "a formula": "=HYPERLINK(1)",
    "a tag": "<img onerror=alert(1)>",
    "another subset's": "validation/0",
}
# Two ids that a file system, or a careless normalisation, would take for one.
TWINS = {
    "upper and lower case": ("Cat", "cat"),
    "two ways to write é": ("caf\u00e9", "cafe\u0301"),
    "a space at the end": ("cat", "cat "),
    "a leading zero": ("7", "07"),
}


def bound(ids: Sequence[str]) -> Binder:
    binder = Binder()
    binder.set_preprocess(
        lambda: [PreprocessResponse(sample_ids=list(ids), data=0), PreprocessResponse(length=4, data=1)]
    )

    def x(sample: str | int, subset: PreprocessResponse) -> np.ndarray:
        position = subset.sample_ids.index(sample)  # type: ignore[arg-type]
        return np.random.default_rng([subset.data, position]).random(4).astype(np.float32)

    binder.set_input(x, "x")
    binder.set_ground_truth(lambda sample, subset: np.eye(3, dtype=np.float32)[len(str(sample)) % 3], "scores")
    return binder


@pytest.mark.parametrize("case", IDS)
def test_an_odd_id_comes_through_check_and_evaluation_unchanged(case: str, tmp_path: Path) -> None:
    own = IDS[case]
    ids = [own, "plain", "other"]
    dataset = bound(ids).dataset()
    report = check(dataset, linear_model())
    assert not report.of("error")
    json.dumps(report.to_dict())
    evaluation = evaluate(dataset, linear_model(), Run.create(tmp_path / "run"), keep_model=False)
    assert evaluation.table("training")["id"].to_pylist() == [f"training/{one}" for one in ids]
    names = [path.name for path in tmp_path.rglob("*")]
    assert not [name for name in names if own.strip(" .") and own in name]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


@pytest.mark.parametrize("case", TWINS)
def test_ids_that_differ_a_little_stay_two_samples(case: str, tmp_path: Path) -> None:
    dataset = bound(TWINS[case]).dataset()
    evaluation = evaluate(dataset, linear_model(), Run.create(tmp_path / "run"), keep_model=False)
    table = evaluation.table("training")
    assert table["id"].to_pylist() == [f"training/{one}" for one in TWINS[case]]
    assert len(set(table["hash"].to_pylist())) == 2


@pytest.mark.parametrize("ids", [["a", "b", "a"], [1, 2, 1]])
def test_an_id_that_stands_twice_is_refused(ids: list[str]) -> None:
    with pytest.raises(BindingError, match="twice"):
        PreprocessResponse(sample_ids=ids)


@pytest.mark.parametrize("wrong", [None, 1.5, b"bytes", ["list"], "\ud800"])
def test_what_is_no_id_is_refused(wrong: object) -> None:
    with pytest.raises(BindingError):
        PreprocessResponse(sample_ids=["a", wrong])  # type: ignore[list-item]


def test_an_id_cannot_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "leap_binder.py").write_text(
        "import numpy as np\n"
        "from cutaway.dataset import leap_binder, PreprocessResponse\n"
        "IDS = ['\\x1b[2Jone', 'two\\nthree']\n"
        "leap_binder.set_preprocess(lambda: [PreprocessResponse(sample_ids=IDS), PreprocessResponse(length=2)])\n"
        "leap_binder.set_input(lambda sample, subset: np.float32([float('nan')] * 4), 'x')\n",
        encoding="utf-8",
    )
    assert main(["check", str(tmp_path)]) == 1
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "binding-nan" in shown


def test_ids_of_arrays_are_kept_as_text(tmp_path: Path) -> None:
    ids = list(IDS.values())
    data = np.random.default_rng(0).random((len(ids), 4), dtype=np.float32)
    dataset = Dataset.from_arrays({"x": data}, ids=ids)
    evaluation = evaluate(dataset, linear_model(), Run.create(tmp_path / "run"), keep_model=False)
    assert evaluation.table("training")["id"].to_pylist() == [f"training/{one}" for one in ids]
