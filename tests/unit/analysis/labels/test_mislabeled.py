"""Mislabeled candidates of odd samples: the right answer, or why there is none."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from cutaway.analysis.labels import find_mislabeled
from cutaway.analysis.neighbours import build_index
from cutaway.analysis.neighbours.nearest import Nearest, nearest_of
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.dynamics import Dynamics
from cutaway.errors import AnalysisUnavailable


def near(samples: Samples) -> Nearest:
    return nearest_of(samples, lambda: build_index(samples.latents))


def blobs(count: int = 400, classes: int = 4, flips: int = 20, subset: str = "training") -> tuple[Samples, np.ndarray]:
    """Samples about well-separated centres, the first of which have the label of the next class."""
    random = np.random.default_rng(0)
    truth = np.arange(count) % classes
    latents = np.eye(classes, 8)[truth] * 6 + random.normal(size=(count, 8))
    labels = truth.copy()
    labels[:flips] = (truth[:flips] + 1) % classes
    chances = np.exp(latents[:, :classes])
    chances /= chances.sum(axis=1, keepdims=True)
    return Samples.from_arrays(latents, labels, chances, {"subset": [subset] * count}), labels != truth


def watched(samples: Samples, wrong: np.ndarray, visits: int = 5) -> Samples:
    """The same with visits in which the model learned the right labels."""
    random = np.random.default_rng(1)
    margins = np.where(wrong, -4.0, 4.0) + random.normal(size=(visits, len(wrong)))
    losses = np.logaddexp(0, -margins)
    return replace(samples, dynamics=Dynamics(losses.astype(np.float32), margins.astype(np.float32)))


def test_columns_stand_in_their_order_and_wrong_labels_come_first() -> None:
    samples, wrong = blobs()
    ranked = find_mislabeled(watched(samples, wrong), near(samples))
    assert ranked.table.column_names == [
        "sample", "score", "reason", "subset", "label", "suggested", "suggested_score", "prediction",
        "probability_margin", "neighbour_margin", "ridge_margin", "held_out", "visits", "visits_wrong", "forgotten",
    ]  # fmt: skip
    assert {int(one) for one in ranked.table["sample"].to_pylist()[:20]} == set(range(20))
    assert ranked.table["score"].to_numpy()[:10].min() > 0.9
    assert ranked.table["score"].to_numpy()[:20].min() > 0.5
    assert ranked.table["score"].to_numpy()[20:].max() < 0.3
    assert ranked.table["suggested"].to_pylist()[:20] == ranked.table["prediction"].to_pylist()[:20]
    assert ranked.words[0] == "20 suspicious labels; expect about 18 to be wrong."
    assert ranked.words[1].startswith("Of all 400 labels, about 18 are expected to be wrong")
    assert ranked.table["suggested_score"].to_numpy()[:10].min() > 0.9


def test_the_same_seed_gives_the_same_table() -> None:
    samples, _ = blobs()
    wide = replace(samples, latents=np.tile(samples.latents, (1, 200)))
    first, again = (find_mislabeled(wide, near(wide), seed=3) for _ in range(2))
    assert first.table.equals(again.table)
    assert "1,024 random projections of the 1,600 latent units" in " ".join(first.notes)
    assert {int(one) for one in first.table["sample"].to_pylist()[:20]} == set(range(20))


def test_a_training_that_nobody_watched_is_said_with_what_to_do() -> None:
    samples, _ = blobs()
    ranked = find_mislabeled(samples, near(samples))
    assert {int(one) for one in ranked.table["sample"].to_pylist()[:20]} == set(range(20))
    assert ranked.table["probability_margin"].null_count == 400
    assert any("hook.register_loss(criterion)" in note for note in ranked.notes)


def test_held_out_samples_are_judged_by_the_model() -> None:
    samples, _ = blobs(subset="validation")
    ranked = find_mislabeled(samples, near(samples))
    assert ranked.table["held_out"].null_count == 0
    assert {int(one) for one in ranked.table["sample"].to_pylist()[:20]} == set(range(20))
    assert "held out, the model also disagrees (margin" in ranked.table["reason"][0].as_py()


def test_samples_without_probabilities_are_judged_by_latents() -> None:
    samples, _ = blobs()
    bare = Samples.from_arrays(samples.latents, samples.table["label"].to_pylist())
    ranked = find_mislabeled(bare, near(bare))
    assert {int(one) for one in ranked.table["sample"].to_pylist()[:20]} == set(range(20))
    assert ranked.table["prediction"].null_count == 400


def test_samples_without_labels_or_of_one_class_have_none() -> None:
    latents = np.random.default_rng(0).normal(size=(9, 2))
    bare, cats = Samples.from_arrays(latents), Samples.from_arrays(latents, ["cat"] * 9)
    neighbours = near(bare)
    with pytest.raises(AnalysisUnavailable, match="these samples have no labels"):
        find_mislabeled(bare, neighbours)
    with pytest.raises(AnalysisUnavailable, match="all labels are 'cat', and it takes two classes"):
        find_mislabeled(cats, neighbours)


def test_latents_that_are_all_nan_leave_what_training_saw() -> None:
    samples, wrong = blobs()
    blind = replace(samples, latents=np.full_like(samples.latents, np.nan))
    with pytest.raises(AnalysisUnavailable, match="no labelled sample has neighbours"):
        find_mislabeled(blind, near(blind))
    ranked = find_mislabeled(watched(blind, wrong), near(blind))
    assert {int(one) for one in ranked.table["sample"].to_pylist()[:20]} == set(range(20))
    assert ranked.table["suggested"].to_pylist()[:20] == ranked.table["prediction"].to_pylist()[:20]


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", None], ["a", "a", "b"]])
def test_a_handful_of_samples_is_no_evidence(labels: list[str | None]) -> None:
    few = Samples.from_arrays(np.arange(len(labels) * 2).reshape(-1, 2), labels)
    ranked = find_mislabeled(few, near(few))
    assert len(ranked) == len([one for one in labels if one])
    assert ranked.table["score"].null_count == len(ranked)
    assert "it takes 100 samples with a label and a latent vector" in ranked.words[0]


def test_null_labels_are_left_out_and_labels_beyond_the_classes_kept() -> None:
    samples, _ = blobs()
    labels = samples.table["label"].to_pylist()
    labels[50], labels[60] = None, "unheard of"
    place = samples.table.column_names.index("label")
    odd = replace(samples, table=samples.table.set_column(place, "label", [labels]))
    ranked = find_mislabeled(odd, near(odd))
    assert len(ranked) == 399
    assert "1 of 400 samples are left out: 1 without a label." in ranked.notes
    found = dict(zip(ranked.table["sample"].to_pylist(), ranked.table["suggested"].to_pylist(), strict=True))
    assert found["60"] == samples.table["prediction"][60].as_py()


def test_visits_that_are_not_numbers_are_not_counted() -> None:
    samples, wrong = blobs()
    seen = watched(samples, wrong).dynamics
    assert seen is not None
    losses, margins = seen.losses.copy(), seen.margins.copy()
    losses[0], margins[0] = np.nan, np.nan
    losses[:, 30], margins[:, 30] = np.nan, np.nan
    losses[2, 40] = np.inf
    ranked = find_mislabeled(replace(samples, dynamics=Dynamics(losses, margins)), near(samples))
    visits = dict(zip(ranked.table["sample"].to_pylist(), ranked.table["visits"].to_pylist(), strict=True))
    assert (visits["0"], visits["30"]) == (4, 0)
    assert {int(one) for one in ranked.table["sample"].to_pylist()[:20]} == set(range(20))


@pytest.mark.slow
def test_ten_thousand_classes_are_ranked_in_little_memory() -> None:
    random = np.random.default_rng(0)
    truth = np.arange(80_000) % 10_000
    centres = random.normal(size=(10_000, 24)).astype(np.float32) * 4
    latents = centres[truth] + random.normal(size=(80_000, 24)).astype(np.float32) * 0.3
    labels = truth.copy()
    labels[:50] += 1
    many = Samples.from_arrays(latents, [str(one) for one in labels])
    neighbours = near(many)
    tracemalloc.start()
    ranked = find_mislabeled(many, neighbours)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(ranked) == 80_000
    assert peak < 500e6


def test_what_cannot_tell_the_classes_apart_is_no_judge_of_labels() -> None:
    labels = np.random.default_rng(0).integers(0, 10, 300)
    for latents in (np.ones((300, 4)), np.random.default_rng(1).normal(size=(300, 4))):
        samples = Samples.from_arrays(latents, labels)
        with pytest.raises(AnalysisUnavailable, match="does not tell these classes apart"):
            find_mislabeled(samples, near(samples))
