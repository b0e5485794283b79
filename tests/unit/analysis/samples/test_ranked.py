"""Ranked tables: their form, and that a run keeps them with their words."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from cutaway.analysis import Population
from cutaway.analysis.population.applicability import analysis_named
from cutaway.analysis.population.kept import kept_ranked
from cutaway.analysis.samples.ranked import Ranked
from cutaway.errors import ConfigurationError, StorageError
from tests.unit.analysis.kinds import evaluated_kind

pytest.importorskip("torch")

TABLE = pa.table(
    {
        "sample": ["training/1"],
        "score": [0.5],
        "reason": ["why"],
        "subset": ["training"],
        "label": ["1"],
        "suggested": ["2"],
        "suggested_score": [0.25],
    }
)
FOUND = Ranked(TABLE, ("one",), ("a note",))


def _never() -> Ranked:
    raise AssertionError("it was made again")


def test_a_table_without_sample_score_and_reason_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="begins with sample, score, reason"):
        Ranked(pa.table({"sample": ["a"], "reason": ["b"], "score": [1.0]}))


def test_what_a_run_keeps_is_not_made_again(tmp_path: Path) -> None:
    population = Population.open(evaluated_kind("logits", tmp_path / "run")[0])
    origin, samples = population.keeping, population.samples
    made = kept_ranked(origin, analysis_named("mislabeled"), {"seed": 0}, samples, lambda: FOUND)
    again = kept_ranked(origin, analysis_named("mislabeled"), {"seed": 0}, samples, _never)
    assert made is FOUND
    assert (again.table.to_pydict(), again.words, again.notes) == (FOUND.table.to_pydict(), FOUND.words, FOUND.notes)


def test_other_settings_are_another_question(tmp_path: Path) -> None:
    population = Population.open(evaluated_kind("logits", tmp_path / "run")[0])
    origin, samples = population.keeping, population.samples
    kept_ranked(origin, analysis_named("mislabeled"), {"seed": 0}, samples, lambda: FOUND)
    with pytest.raises(AssertionError, match="made again"):
        kept_ranked(origin, analysis_named("mislabeled"), {"seed": 1}, samples, _never)


def test_a_strangers_table_under_our_name_is_made_anew(tmp_path: Path) -> None:
    population = Population.open(evaluated_kind("logits", tmp_path / "run")[0])
    origin, samples = population.keeping, population.samples
    assert origin is not None
    origin.keep("mislabeled", {"seed": 0}, pa.table({"other": [1]}), words=["x"])
    assert kept_ranked(origin, analysis_named("mislabeled"), {"seed": 0}, samples, lambda: FOUND) is FOUND
    origin.keep("ambiguous", {"seed": 0}, FOUND.table, words=[{"no": "words"}])
    assert kept_ranked(origin, analysis_named("ambiguous"), {"seed": 0}, samples, lambda: FOUND) is FOUND


def test_arrays_keep_nothing() -> None:
    samples = Population.from_arrays([[0.0], [1.0]]).samples
    assert kept_ranked(None, analysis_named("mislabeled"), {}, samples, lambda: FOUND) is FOUND


def test_a_table_without_a_row_is_an_answer_too(tmp_path: Path) -> None:
    population = Population.open(evaluated_kind("logits", tmp_path / "run")[0])
    nothing = Ranked(TABLE.slice(0, 0), ("no label is likely wrong",))
    kept_ranked(population.keeping, analysis_named("mislabeled"), {"seed": 0}, population.samples, lambda: nothing)
    again = kept_ranked(population.keeping, analysis_named("mislabeled"), {"seed": 0}, population.samples, _never)
    assert (len(again), again.words) == (0, nothing.words)


def test_what_cannot_be_kept_is_answered_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    population = Population.open(evaluated_kind("logits", tmp_path / "run")[0])

    def full(*_: object) -> None:
        raise StorageError("Cannot write it: No space left on device.")

    monkeypatch.setattr("cutaway.analysis.samples.origin.write_table", full)
    made = kept_ranked(population.keeping, analysis_named("mislabeled"), {"seed": 0}, population.samples, lambda: FOUND)
    assert made is FOUND
    assert "is not kept" in caplog.text
    assert "No space left" in caplog.text


def test_an_unknown_question_offers_the_nearest() -> None:
    population = Population.from_arrays([[0.0], [1.0]])
    with pytest.raises(ConfigurationError, match="mislabeled"):
        population.ranked("mislabelled")
