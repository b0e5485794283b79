"""Ranked tables: their form, and that a run keeps them with their words."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from cutaway.analysis import Population
from cutaway.analysis.kept_ranked import kept_ranked
from cutaway.analysis.ranked import Ranked
from cutaway.errors import ConfigurationError
from tests.unit.analysis.kinds import evaluated_kind

pytest.importorskip("torch")

FOUND = Ranked(
    pa.table({"sample": ["training/1"], "score": [0.5], "reason": ["why"], "suggested": ["4"]}), ("one",), ("a note",)
)


def _never() -> Ranked:
    raise AssertionError("it was made again")


def test_a_table_without_sample_score_and_reason_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="begins with sample, score, reason"):
        Ranked(pa.table({"sample": ["a"], "reason": ["b"], "score": [1.0]}))


def test_what_a_run_keeps_is_not_made_again(tmp_path: Path) -> None:
    origin = Population.open(evaluated_kind("logits", tmp_path / "run")[0]).keeping
    made = kept_ranked(origin, "mislabeled", {"seed": 0}, lambda: FOUND)
    again = kept_ranked(origin, "mislabeled", {"seed": 0}, _never)
    assert made is FOUND
    assert (again.table.to_pydict(), again.words, again.notes) == (FOUND.table.to_pydict(), FOUND.words, FOUND.notes)


def test_other_settings_are_another_question(tmp_path: Path) -> None:
    origin = Population.open(evaluated_kind("logits", tmp_path / "run")[0]).keeping
    kept_ranked(origin, "mislabeled", {"seed": 0}, lambda: FOUND)
    with pytest.raises(AssertionError, match="made again"):
        kept_ranked(origin, "mislabeled", {"seed": 1}, _never)


def test_a_strangers_table_under_our_name_is_made_anew(tmp_path: Path) -> None:
    origin = Population.open(evaluated_kind("logits", tmp_path / "run")[0]).keeping
    assert origin is not None
    origin.keep("mislabeled", {"seed": 0}, pa.table({"other": [1]}), words=["x"])
    assert kept_ranked(origin, "mislabeled", {"seed": 0}, lambda: FOUND) is FOUND
    origin.keep("ambiguous", {"seed": 0}, FOUND.table, words=[{"no": "words"}])
    assert kept_ranked(origin, "ambiguous", {"seed": 0}, lambda: FOUND) is FOUND


def test_arrays_keep_nothing() -> None:
    assert kept_ranked(None, "mislabeled", {}, lambda: FOUND) is FOUND


def test_an_unknown_question_offers_the_nearest() -> None:
    population = Population.from_arrays([[0.0], [1.0]])
    with pytest.raises(ConfigurationError, match="mislabeled"):
        population.ranked("mislabelled")
