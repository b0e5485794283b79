"""Whatever kind of samples there are, the right kinds of insight are looked for, and it is said why not the rest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis import Population
from cutaway.analysis.insights import find_insights, insight_findings, insight_table
from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.errors import ConfigurationError
from cutaway.evaluation.progress import Progress
from tests.analysis.insight_populations import made, no_neighbours
from tests.unit.analysis.kinds import KINDS, evaluated_kind


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_evaluation_gives_insights_or_says_why_not(kind: str, tmp_path: Path) -> None:
    folder, _ = evaluated_kind(kind, tmp_path / "run")
    samples = Population.open(folder).samples
    found = find_insights(samples, no_neighbours(samples))
    insight_table(found)
    insight_findings(found, evaluation=1)
    assert found.notes
    assert all(note.endswith(".") for note in found.notes)


def test_samples_without_any_outcome_say_so_and_still_compare_subsets() -> None:
    rng = np.random.default_rng(0)
    subset = ["training"] * 300 + ["unlabeled"] * 300
    table = pa.table(
        {
            "sample": [str(one) for one in range(600)],
            "subset": subset,
            "metadata.light": np.concatenate([rng.normal(0, 1, 300), rng.normal(2, 1, 300)]),
        }
    )
    samples = Samples(table, rng.normal(size=(600, 4)).astype(np.float32))
    found = find_insights(samples, no_neighbours(samples))
    assert [one.kind for one in found] == ["domain-gap"]
    assert found[0].words.startswith("unlabeled differs from training: metadata.light median ")
    assert found.notes[0].startswith(
        "Not looked for: low-performance, overfitting and metadata-explains-loss, because these samples have neither"
    )


def test_one_subset_says_that_there_is_nothing_to_compare() -> None:
    samples = Samples.from_arrays(np.random.default_rng(0).normal(size=(200, 3)), columns={"loss": np.arange(200.0)})
    found = find_insights(samples, no_neighbours(samples))
    notes = " ".join(found.notes)
    assert "Not looked for: overfitting, because no training samples have an outcome." in notes
    assert "Not looked for: domain-gap. It takes two subsets of 50 samples; there is 1." in notes
    assert "these samples have no metadata" in notes


def test_no_samples_at_all_give_no_insights() -> None:
    samples = Samples(
        pa.table({"sample": pa.array([], pa.string()), "subset": pa.array([], pa.string())}),
        np.zeros((0, 3), np.float32),
    )
    assert not list(find_insights(samples, no_neighbours(samples)))


def test_the_same_seed_gives_the_same_insights() -> None:
    planted = made(1, count=1500, columns=3)
    planted.chance[planted.label == 2] = 0.4
    samples = planted.samples()
    first, second = (find_insights(samples, no_neighbours(samples), seed=3) for _ in range(2))
    assert list(first) == list(second)
    assert [one.id for one in insight_findings(first, evaluation=1)] == [
        one.id for one in insight_findings(second, evaluation=1)
    ]


def test_the_random_numbers_of_others_stay_as_they_are() -> None:
    samples = made(1, count=600, columns=2).samples()
    before = np.random.get_state()[1].copy()  # type: ignore[index]
    find_insights(samples, no_neighbours(samples))
    assert np.array_equal(before, np.random.get_state()[1])  # type: ignore[index]


def test_it_tells_how_far_it_is() -> None:
    samples = made(1, count=600, columns=2).samples()
    told: list[Progress] = []
    find_insights(samples, no_neighbours(samples), progress=told.append)
    assert told[-1].stage == "looking for insights"
    assert told[-1].done == told[-1].total


def test_wrong_arguments_are_refused_in_words() -> None:
    samples = made(1, count=600, columns=2).samples()
    with pytest.raises(ConfigurationError, match="neighbours of 3"):
        find_insights(samples, Nearest(np.zeros((3, 20), np.int64), np.zeros((3, 20), np.float32)))
    with pytest.raises(ConfigurationError, match="clusters of 3"):
        find_insights(samples, no_neighbours(samples), clusters=np.zeros(3, np.int64))
    table = Ranked(pa.table({"sample": ["1"], "score": [1.0], "reason": ["why"]}))
    with pytest.raises(ConfigurationError, match="Did you mean 'duplicates'"):
        find_insights(samples, no_neighbours(samples), ranked={"duplicate": table})
