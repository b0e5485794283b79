"""What is said of clusters: what was planted is found, and what was not is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_digits

from cutaway.analysis.clusters import Clusters, ClusterWords, describe_clusters, find_clusters
from cutaway.analysis.clusters.values import clusters_of
from cutaway.analysis.samples import Samples
from cutaway.errors import ConfigurationError


def _clusters(labels: Any) -> Clusters:
    given = np.asarray(labels)
    latents = np.zeros((len(given), 1), np.float32)
    return clusters_of(latents, np.ones(len(given), bool), given.astype(np.int64), "kmeans", ())


def _described(labels: Any, columns: dict[str, Any]) -> tuple[ClusterWords, ...]:
    clusters = _clusters(labels)
    samples = Samples.from_arrays(np.zeros((len(clusters.labels), 1)), columns=columns)
    return describe_clusters(clusters, samples)


def _names(words: ClusterWords) -> set[tuple[str, str | None]]:
    return {(trait.column, trait.value) for trait in words.traits}


def test_clusters_of_digits_are_named_by_their_class_and_by_how_well_they_are_read() -> None:
    data = load_digits()
    clusters = find_clusters(data.data, method="kmeans", count=10)
    biggest = np.array([np.bincount(data.target[clusters.labels == one]).argmax() for one in range(10)])
    # A model that answers with the class of the cluster is wrong just where the cluster is not pure.
    samples = Samples.from_arrays(data.data, data.target, np.eye(10)[biggest[clusters.labels]] * 0.9 + 0.01)
    described = describe_clusters(clusters, samples)
    for words in described:
        members = data.target[clusters.labels == words.cluster]
        first = words.classes[0]
        assert first.name == str(biggest[words.cluster])
        assert first.count == (members == biggest[words.cluster]).sum()
        assert words.purity == first.share == pytest.approx(first.count / words.size)
        assert sum(one.count for one in words.classes) == words.size == clusters.sizes[words.cluster]
        assert words.errors is not None
        assert words.errors.inside == pytest.approx(1 - first.share)
    worst, best = (choose(described, key=lambda one: one.purity or 0.0) for choose in (min, max))
    assert worst.errors is not None
    assert worst.loss is not None
    assert (worst.errors.differs, worst.loss.differs) == (True, True)
    assert worst.loss.inside > worst.loss.outside
    assert f"of them {best.classes[0].name}" in best.words


def test_planted_differences_are_found_and_others_are_not() -> None:
    rng = np.random.default_rng(0)
    labels = rng.choice(4, 2000, p=[0.5, 0.3, 0.15, 0.05])
    labels = _clusters(labels).labels
    rows = len(labels)
    brightness = rng.normal(0.22, 0.1, rows) + 0.2 * (labels == 2)
    site = np.where((labels == 1) & (rng.random(rows) < 0.6), "north", rng.choice(["south", "east", "west"], rows))
    blurred = np.where(labels == 3, rng.random(rows) < 0.5, rng.random(rows) < 0.1)
    described = _described(
        labels,
        {
            "metadata.brightness": brightness,
            "metadata.site": site,
            "metadata.blurred": blurred,
            "metadata.noise": rng.exponential(size=rows) ** 3,
            "metadata.letter": rng.choice(list("abcdefghij"), rows),
            "metadata.flag": rng.random(rows) < 0.01,
        },
    )
    assert ("metadata.brightness", None) in _names(described[2])
    assert ("metadata.site", "north") in _names(described[1])
    assert ("metadata.blurred", None) in _names(described[3])
    told = {name for words in described for name, _ in _names(words)}
    assert told == {"metadata.brightness", "metadata.site", "metadata.blurred"}
    bright = next(trait for trait in described[2].traits if trait.column == "metadata.brightness")
    assert (bright.kind, bright.figure, bright.direction) == ("number", "mean", "higher")
    assert bright.inside == pytest.approx(brightness[labels == 2].mean())
    assert bright.outside == pytest.approx(brightness[labels != 2].mean())
    assert 0 < bright.score < 1
    assert "brightness 0.4" in described[2].words
    north = next(trait for trait in described[1].traits if trait.value == "north")
    assert (north.direction, north.outside) == ("higher", 0.0)
    assert "site north in 58 % against 0 %" in described[1].words


def test_a_difference_of_ranks_is_the_chance_to_be_higher_less_that_to_be_lower() -> None:
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], [300, 100])
    numbers = rng.integers(0, 9, 400) + 3 * labels
    trait = _described(labels, {"level": numbers})[1].traits[0]
    inside, outside = numbers[labels == 1][:, None], numbers[labels == 0]
    assert trait.effect == pytest.approx(((inside > outside).mean() - (inside < outside).mean()), abs=1e-9)


def test_partitions_that_have_nothing_to_do_with_the_columns_get_traits_at_most_as_often_as_stated() -> None:
    rng = np.random.default_rng(0)
    rounds, alarms = 150, 0
    for _ in range(rounds):
        columns = {
            "normal": rng.normal(size=240),
            "heavy": rng.standard_cauchy(240),
            "mostly_zero": np.where(rng.random(240) < 0.05, rng.exponential(size=240), 0.0),
            "count": rng.poisson(0.2, 240),
            "rare": rng.random(240) < 0.03,
            "letter": rng.choice(list("abcdefghijklmnopqrst"), 240),
            "correct": rng.random(240) < 0.95,
            "loss": rng.exponential(size=240) ** 4,
        }
        described = _described(rng.choice(5, 240, p=[0.4, 0.3, 0.2, 0.07, 0.03]), columns)
        alarms += any(
            words.traits or (words.errors and words.errors.differs) or (words.loss and words.loss.differs)
            for words in described
        )
    # At most 5 % of them: of 150 rounds with just that rate, more than 15 would be one case in a hundred.
    assert alarms <= 15


def test_permuting_a_planted_column_silences_it() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [300, 200, 100])
    planted = labels + rng.normal(size=600)
    assert all(words.traits for words in _described(labels, {"planted": planted}) if words.cluster != 1)
    assert not any(words.traits for words in _described(labels, {"planted": rng.permutation(planted)}))


def test_a_small_cluster_is_told_in_counts_with_a_wide_interval() -> None:
    labels = np.repeat([0, 1], [500, 6])
    correct = np.ones(506, bool)
    correct[[3, 90, 200, 300, 501, 502]] = False
    errors = _described(labels, {"correct": correct})[1].errors
    assert errors is not None
    assert (errors.count, errors.inside, errors.outside) == (6, pytest.approx(2 / 6), 4 / 500)
    assert errors.low == pytest.approx(0.0968, abs=1e-3)  # Wilson's interval of 2 in 6
    assert errors.high == pytest.approx(0.7000, abs=1e-3)


def test_a_cluster_is_judged_by_its_held_out_samples_alone() -> None:
    # Cluster 0: of 60 training samples 3 are wrong, of 60 of validation 15; cluster 1: none of 60, 6 of 60.
    labels = np.repeat([0, 1], 120)
    subset = (["training"] * 60 + ["validation"] * 60) * 2
    correct = [False] * 3 + [True] * 57 + [False] * 15 + [True] * 45 + [True] * 60 + [False] * 6 + [True] * 54
    loss = [0.0] * 60 + [2.0] * 60 + [0.0] * 60 + [1.0] * 60
    first, second = _described(labels, {"subset": subset, "correct": correct, "loss": loss})
    assert first.errors is not None
    assert first.loss is not None
    assert (first.errors.count, first.errors.inside, first.errors.outside) == (60, 15 / 60, 6 / 60)
    assert (first.loss.count, first.loss.inside, first.loss.outside) == (60, 2.0, 1.0)
    assert "error 25 % on validation (elsewhere 10 %" in first.words
    assert second.errors is not None
    assert second.errors.inside == 6 / 60


def test_a_metric_is_that_of_held_out_samples_and_metadata_that_of_all() -> None:
    labels = np.repeat([0, 1], 120)
    subset = (["training"] * 60 + ["validation"] * 60) * 2
    metric = [1.0] * 60 + [0.2, 0.4] * 30 + [1.0] * 60 + [0.7, 0.9] * 30
    light = [0.0, 0.1] * 60 + [1.0, 1.1] * 60
    first, _ = _described(labels, {"subset": subset, "metric.iou": metric, "metadata.light": light})
    traits = {one.column: one for one in first.traits}
    assert (traits["metric.iou"].inside, traits["metric.iou"].outside) == pytest.approx((0.3, 0.8))
    assert traits["metric.iou"].count == 60
    assert traits["metadata.light"].count == 120


def test_missing_columns_leave_their_part_out() -> None:
    words = _described([0, 0, 1], {})[0]
    assert (words.classes, words.purity, words.errors, words.loss, words.traits) == ((), None, None, None, ())
    assert words.words == "2 samples."


def test_missing_values_count_nowhere() -> None:
    labels = [0] * 40 + [1] * 40
    label = pa.array(["a"] * 10 + [None] * 30 + ["b"] * 40)
    level = pa.array([None] * 20 + [1.0, float("nan")] * 10 + [5.0] * 40)
    correct = pa.array([None] * 39 + [False] + [True] * 40)
    first, second = _described(labels, {"label": label, "level": level, "correct": correct})
    assert (first.purity, first.classes[0].count) == (1.0, 10)
    assert first.errors is not None
    assert (first.errors.count, first.errors.inside) == (1, 1.0)
    assert second.traits[0].inside == 5.0
    assert first.traits[0].count == 10


@pytest.mark.parametrize(
    "column",
    [
        [7] * 60,
        ["same"] * 60,
        [f"file-{one}.png" for one in range(60)],
        [[1.0, 2.0]] * 60,
        [None] * 60,
        [float("nan")] * 60,
        [True] * 59 + [False],
    ],
)
def test_columns_that_can_tell_nothing_are_left_out(column: list[Any]) -> None:
    assert [words.traits for words in _described([0] * 30 + [1] * 30, {"odd": column})] == [(), ()]


def test_samples_in_no_cluster_belong_to_the_rest() -> None:
    labels = np.repeat([0, 1, -1], [100, 100, 200])
    flag = np.repeat([True, True, False], [100, 100, 200])
    trait = _described(labels, {"flag": flag})[0].traits[0]
    assert (trait.inside, trait.outside) == (1.0, 100 / 300)


def test_encoded_columns_and_subsets_are_described_too() -> None:
    labels = np.repeat([0, 1], [100, 50])
    names = np.where(labels == 1, "validation", "training")
    described = _described(labels, {"subset": names.tolist(), "site": pa.array(names).dictionary_encode()})
    assert {("subset", "validation"), ("site", "validation")} <= _names(described[1])


def test_no_clusters_need_no_words() -> None:
    assert _described([-1, -1], {}) == ()


def test_clusters_of_other_samples_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="There are 3 samples, but clusters of 2"):
        describe_clusters(_clusters([0, 0]), Samples.from_arrays(np.zeros((3, 1))))
