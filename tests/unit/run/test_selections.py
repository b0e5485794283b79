"""Selections in a run: they come back as they were kept, and what is not ours is left out and said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cutaway.errors import ConfigurationError
from cutaway.run import Run
from cutaway.run import selections as module
from cutaway.run.catalog import remove_run
from cutaway.run.plain_text import plain_text
from cutaway.run.selections import SampleSelection, drop_selection, find_selection, keep_selection, selections


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "mnist")


ODD = SampleSelection("odd threes", 1, ("label = 3",), ((0.0, 1.5), (2.0, 3.0)), ("training/1",), "look at these", 5.0)


def test_a_selection_comes_back_as_it_was_kept(run: Run) -> None:
    assert keep_selection(run, ODD) == ODD
    assert selections(run) == ([ODD], [])
    assert find_selection(run, "odd threes") == ODD


def test_one_of_the_same_name_is_replaced(run: Run) -> None:
    keep_selection(run, ODD)
    other = SampleSelection("odd threes", 2, created=7.0)
    keep_selection(run, other)
    assert selections(run).selections == [other]


def test_the_newest_comes_first(run: Run) -> None:
    for created, name in enumerate(("first", "second", "third")):
        keep_selection(run, SampleSelection(name, 0, created=float(created)))
    assert [one.name for one in selections(run).selections] == ["third", "second", "first"]


def test_a_removed_one_is_gone_and_removing_it_again_says_so(run: Run) -> None:
    keep_selection(run, ODD)
    drop_selection(run, "odd threes")
    assert selections(run).selections == []
    with pytest.raises(ConfigurationError, match="no selection"):
        drop_selection(run, "odd threes")


def test_a_name_that_there_is_not_is_answered_with_the_nearest(run: Run) -> None:
    keep_selection(run, ODD)
    with pytest.raises(ConfigurationError, match="Did you mean 'odd threes'"):
        find_selection(run, "odd three")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(name=st.text(min_size=1, max_size=100))
def test_any_name_stays_inside_the_folder_and_is_told_from_others(run: Run, name: str) -> None:
    if not plain_text(name, 100):
        with pytest.raises(ConfigurationError):
            keep_selection(run, SampleSelection(name, 0))
        return
    kept = keep_selection(run, SampleSelection(name, 0))
    assert find_selection(run, kept.name) == kept
    files = list((run.path / "selections").iterdir())
    assert all(path.suffix == ".json" and path.name.isascii() and len(path.name) < 80 for path in files)
    drop_selection(run, kept.name)
    assert selections(run).selections == []


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff", b'{"name": "x"}', b"[" * 100_000])
def test_a_damaged_file_is_left_out_and_said(run: Run, content: bytes) -> None:
    keep_selection(run, ODD)
    (run.path / "selections" / "other.json").write_bytes(content)
    found = selections(run)
    assert found.selections == [ODD]
    assert len(found.notes) == 1
    assert "other.json" in found.notes[0]


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"name": 5},
        {"name": ""},
        {"name": "another"},
        {"evaluation": -1},
        {"evaluation": "1"},
        {"where": "label = 3"},
        {"where": [3]},
        {"where": ["x"] * 51},
        {"where": ["x" * 2001]},
        {"lasso": [[1, 2, 3]]},
        {"lasso": [["a", "b"]]},
        {"lasso": [[1e999, 0]]},
        {"lasso": [[10**400, 0]]},
        {"samples": [None]},
        {"samples": ["x"] * 10_001},
    ],
)
def test_what_is_not_as_it_was_written_is_left_out(run: Run, change: dict[str, Any]) -> None:
    keep_selection(run, ODD)
    (path,) = (run.path / "selections").iterdir()
    held = run.document(f"selections/{path.name}") or {}
    run.write_document(f"selections/{path.name}", {**{k: v for k, v in held.items() if k != "crc"}, **change})
    found = selections(run)
    assert found.selections == []
    assert len(found.notes) == 1


def test_a_run_holds_so_many_and_no_more(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SELECTIONS", 3)
    for number in range(3):
        keep_selection(run, SampleSelection(f"selection {number}", 0))
    with pytest.raises(ConfigurationError, match="as many as it can have"):
        keep_selection(run, SampleSelection("one more", 0))
    keep_selection(run, SampleSelection("selection 1", 5))
    assert len(selections(run).selections) == 3


def test_one_that_is_too_large_is_refused(run: Run) -> None:
    with pytest.raises(ConfigurationError, match="too large"):
        keep_selection(run, SampleSelection("large", 0, samples=("x" * 1900,) * 10_000))


def test_a_folder_that_cannot_be_written_is_said(run: Run) -> None:
    (run.path / "selections").write_text("in the way")
    with pytest.raises(ConfigurationError, match="cannot be written"):
        keep_selection(run, ODD)


def test_a_run_that_holds_selections_is_still_nothing_but_a_run_and_can_be_removed(run: Run) -> None:
    keep_selection(run, ODD)
    remove_run(run)
    assert not run.path.exists()


def test_a_lasso_that_could_not_be_read_again_is_refused(run: Run) -> None:
    with pytest.raises(ConfigurationError, match="farther out"):
        keep_selection(run, SampleSelection("far", 0, lasso=((1e308, 0.0), (0.0, 1.0), (1.0, 1.0))))
    assert selections(run) == ([], [])


def test_nothing_is_written_or_removed_through_a_link(run: Run, tmp_path: Path) -> None:
    kept = keep_selection(run, SampleSelection("mine", 0))
    outside = tmp_path / "outside"
    (run.path / "selections").rename(outside)
    (run.path / "selections").symlink_to(outside)
    before = sorted(outside.iterdir())
    for change in (lambda: keep_selection(run, SampleSelection("another", 0)), lambda: drop_selection(run, kept.name)):
        with pytest.raises(ConfigurationError, match="leads elsewhere"):
            change()
    assert sorted(outside.iterdir()) == before
