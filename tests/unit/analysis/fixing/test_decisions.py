"""A person's own decisions: what is sure is taken, everything else is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.analysis.fixing import Decision, read_decisions
from cutaway.errors import ConfigurationError

LABELS = {"training/1": "cat", "training/2": "dog", "validation/=x.png": "dog", "unlabeled/1": None}
CLASSES = ("cat", "dog", "-1")
HEAD = "sample,action,label,weight\n"


def read(tmp_path: Path, text: str | bytes) -> tuple[Decision, ...]:
    path = tmp_path / "decided.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_decisions(path, LABELS, CLASSES).decisions


def test_each_action_is_read(tmp_path: Path) -> None:
    text = f"{HEAD}training/1,relabel,dog,\ntraining/2,drop,,\nvalidation/=x.png,reweight,,0.5\n"
    assert read(tmp_path, text) == (
        Decision("training/1", "relabel", label="dog"),
        Decision("training/2", "drop"),
        Decision("validation/=x.png", "reweight", weight=0.5),
    )


def test_other_columns_and_undecided_lines_are_left_out(tmp_path: Path) -> None:
    text = "\ufeffscore,sample,action,label,why\r\n0.9,training/1,relabel,dog,hm\r\n0.8,training/2,,cat,\r\n"
    assert read(tmp_path, text) == (Decision("training/1", "relabel", label="dog"),)
    assert read(tmp_path, "sample,action\ntraining/1,drop\n") == (Decision("training/1", "drop"),)
    assert read(tmp_path, HEAD) == ()


def test_a_quote_that_an_export_put_before_a_formula_is_taken_off(tmp_path: Path) -> None:
    assert read(tmp_path, f"{HEAD}training/1,relabel,'-1,\n")[0].label == "-1"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("training/9,drop,,", "line 2: there is no sample 'training/9'"),
        ("train/1,drop,,", r"\(did you mean 'training/1'"),
        ("training/1,relable,dog,", r"there is no action 'relable' \(did you mean 'relabel'\?\)"),
        ("training/1,relabel,=cmd|' /C calc'!A0,", "there is no label"),
        ("training/1,relabel,\x1b[31mdog,", r"no label '\\x1b\[31mdog'"),
        ("training/1,relabel,,", "there is no label ''"),
        ("unlabeled/1,relabel,dog,", "has no label that could be changed"),
        ("training/1,reweight,,-1", "a weight must be a number from 0 on, but it is '-1'"),
        ("training/1,reweight,,nan", "a weight must be a number"),
        ("training/1,reweight,,", "a weight must be a number"),
        ("training/1,drop,,\ntraining/1,relabel,dog,", "line 3: training/1 is decided in line 2 already"),
        (f"{'x' * 5000},drop,,", r"no sample 'x{57}\.\.\.'"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        read(tmp_path, f"{HEAD}{line}\n")


def test_many_wrong_lines_are_counted(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"line 6: .*; and 3 more\. Mend these lines; nothing was written"):
        read(tmp_path, HEAD + "nothing,drop,,\n" * 8)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "lacks the column 'sample' and 'action'"),
        (b"sample,label\n", "lacks the column 'action'"),
        (b"\xff\xfe\x00s", "no CSV file in UTF-8"),
        (b'sample,action\n"training/1,drop\n', "no CSV file"),
        # How long a cell may be is set for the whole process, by whoever comes first; no sample has such an id either.
        (b"sample,action\n" + b"x" * 200_000 + b",drop\n", "no CSV file|there is no sample 'xxx"),
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        read(tmp_path, content)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        read_decisions(tmp_path / "gone.csv", LABELS, CLASSES)
    with pytest.raises(ConfigurationError, match="Is a directory"):
        read_decisions(tmp_path, LABELS, CLASSES)
