"""Runs of commit d8fdefa open, show and analyze as `answers.json` says; `make_golden_runs` says how they were made.

Where an answer changes, it was wrong before: `python -m tests.golden.asking` writes the file anew, and whoever does so
reads each difference.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.golden.asking import COMMANDS, ROUTES, TRAINED, answers_of

HERE = Path(__file__).parent
OLD: dict[str, Any] = json.loads((HERE / "answers.json").read_text(encoding="utf-8"))
# What analyses keep that have other columns or count otherwise by now: it is made again.
MADE_AGAIN = re.compile(
    r"joint\.(insights|mislabeled|confusion|confusion_classes|curve|clusters|clusters_words|clusters_traits|compare_.*)\."
)
ASKED = [
    *(f"cutaway {one}" for one in COMMANDS),
    *(f"trial of {one}" for one in TRAINED),
    *(f"GET {one}" for one in ROUTES),
]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(HERE / "runs", tmp_path_factory.mktemp("golden") / "runs"))


@pytest.fixture(scope="module")
def answers(runs: Path) -> dict[str, Any]:
    return answers_of(runs)


@pytest.mark.parametrize("asked", ASKED)
def test_an_old_run_is_answered_for_as_it_was(answers: dict[str, Any], asked: str) -> None:
    assert differences(answers[asked], OLD[asked]) == []


def test_reading_an_old_run_changes_none_of_its_files(runs: Path, answers: dict[str, Any]) -> None:
    assert answers
    before, after = digests(HERE / "runs"), digests(runs)
    changed = {name for name, digest in before.items() if after.get(name) != digest}
    assert {name for name in changed if not MADE_AGAIN.search(name)} == set()


def test_what_was_kept_in_an_old_run_is_made_again_only_where_it_counted_otherwise(tmp_path: Path) -> None:
    from cutaway.analysis import Population, analyze

    run = shutil.copytree(HERE / "runs" / "digits", tmp_path / "digits")
    seen = [digests(run)]
    for _ in range(2):
        with Population.open(run) as population:
            parts = list(analyze(population))
        assert len([part for part in parts if part.tables]) >= 10
        seen.append(digests(run))
    old, once, twice = seen
    assert {name for name, digest in old.items() if once.get(name) != digest and not MADE_AGAIN.search(name)} == set()
    assert twice == once


def test_the_golden_files_name_no_place_of_the_machine_that_made_them() -> None:
    named = re.compile(rb"/(?:home|root|tmp|work|Users|usr/lib)/")
    files = [path for path in (HERE / "runs").rglob("*") if path.is_file()]
    assert files
    assert [path for path in (*files, HERE / "answers.json") if named.search(path.read_bytes())] == []


def differences(new: Any, old: Any, where: str = "") -> list[str]:
    """Return where two answers differ; floats may differ by what another machine's rounding makes of them."""
    if isinstance(new, dict) and isinstance(old, dict):
        names = sorted({*new, *old})
        return [told for one in names for told in differences(new.get(one, ...), old.get(one, ...), f"{where}.{one}")]
    if isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        pairs = enumerate(zip(new, old, strict=True))
        return [told for row, pair in pairs for told in differences(*pair, f"{where}[{row}]")]
    if isinstance(new, float) and isinstance(old, (int, float)):
        return [] if new == pytest.approx(old, rel=1e-4, abs=1e-6) else [f"{where}: {new}, not {old}"]
    return [] if new == old else [f"{where}: {new!r}, not {old!r}"]


def digests(folder: Path) -> dict[str, str]:
    """Return what is in each file below a folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
