from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from cutaway.analysis.curves import curve
from cutaway.analysis.samples import Samples
from cutaway.errors import AnalysisUnavailable, ConfigurationError


def _samples(count: int = 600, **columns: Any) -> Samples:
    return Samples.from_arrays(np.zeros((count, 2)), columns=columns)


def _rising(count: int = 600) -> Samples:
    rng = np.random.default_rng(0)
    distance = rng.gamma(3, size=count)
    labels = rng.integers(0, 3, count)
    loss = distance * (labels + 1) + rng.normal(size=count)
    return Samples.from_arrays(np.zeros((count, 2)), labels, columns={"metadata.distance": distance, "loss": loss})


def test_a_rising_curve_rises_bin_by_bin_and_says_so() -> None:
    found = curve(_rising(), "metadata.distance", bins=6)
    assert found.kind == "numbers"
    assert found.table.column_names == ["from", "to", "count", "mean", "median", "min", "max", "low", "high"]
    means = found.table["mean"].to_pylist()
    assert means == sorted(means)
    assert found.table["count"].to_pylist() == [100] * 6
    assert found.words().startswith("loss rises with metadata.distance: rank correlation 0.")
    assert found.words().endswith("], 600 samples")
    assert (found.count, found.missing, found.notes) == (600, 0, ())


def test_on_digits_the_loss_rises_with_the_distance_from_the_mean_image_of_the_class() -> None:
    images, labels = load_digits(return_X_y=True)
    images = images / 16
    model = LogisticRegression(max_iter=500).fit(images[:900], labels[:900])
    means = np.stack([images[:900][labels[:900] == one].mean(axis=0) for one in range(10)])
    distance = np.linalg.norm(images - means[labels], axis=1)[900:]
    chances = model.predict_proba(images[900:])
    samples = Samples.from_arrays(images[900:], labels[900:], chances, {"metadata.distance": distance})
    found = curve(samples, "metadata.distance", bins=5, by="label")
    assert found.words().startswith("loss rises with metadata.distance: rank correlation ")
    assert sum(one.value > 0 for one in found.within.values()) >= 9
    whole = curve(samples, "metadata.distance", bins=5).table
    assert whole["low"].to_pylist()[-1] > whole["high"].to_pylist()[0]


def test_a_curve_by_class_has_the_same_bins_for_each_and_all_samples() -> None:
    samples = _rising()
    whole, split = (curve(samples, "metadata.distance", bins=4, by=by) for by in (None, "label"))
    assert split.table.column_names[0] == "by"
    assert split.table["by"].to_pylist() == [one for one in "012" for _ in range(4)]
    assert split.table["from"].to_pylist() == whole.table["from"].to_pylist() * 3
    counts = np.array(split.table["count"].to_pylist()).reshape(3, 4)
    assert counts.sum(axis=0).tolist() == whole.table["count"].to_pylist()
    assert split.strength == whole.strength
    distance, loss = samples.numbers("metadata.distance"), samples.numbers("loss")
    row = split.table.slice(6, 1).to_pylist()[0]
    inside = (samples.table["label"].to_numpy() == "1") & (distance >= row["from"]) & (distance <= row["to"])
    assert row["mean"] == pytest.approx(loss[inside].mean())


def test_what_holds_within_each_class_is_said_where_the_classes_hide_it() -> None:
    rng = np.random.default_rng(5)
    labels = np.repeat([0, 1, 2], 200)
    x = rng.normal(size=600) + 10 * labels
    loss = x - 25 * labels
    found = curve(Samples.from_arrays(np.zeros((600, 1)), labels, columns={"x": x, "loss": loss}), "x", by="label")
    assert found.words().startswith("loss falls with x: rank correlation -0.")
    assert found.words().endswith("; within label 1.00 to 1.00, median 1.00")
    assert {name: one.count for name, one in found.within.items()} == {"0": 200, "1": 200, "2": 200}


def test_noise_neither_rises_nor_falls() -> None:
    rng = np.random.default_rng(3)
    found = curve(_samples(x=rng.normal(size=600), loss=rng.normal(size=600)), "x")
    assert "neither rises nor falls" in found.words()
    assert "falls with" in curve(_samples(x=np.arange(600), loss=-np.arange(600.0)), "x").words()


def test_the_interval_of_a_mean_holds_the_truth_about_nineteen_times_in_twenty() -> None:
    rng = np.random.default_rng(4)
    x = np.repeat(np.arange(1000), 5)
    found = curve(_samples(5000, x=x, loss=rng.normal(7, 2, 5000)), "x", bins=1000)
    low, high = (np.array(found.table[name].to_pylist()) for name in ("low", "high"))
    assert 0.93 <= ((low <= 7) & (high >= 7)).mean() <= 0.97


def test_a_curve_of_yes_and_no_has_wilsons_interval() -> None:
    right = [True] * 10 + [False] * 3 + [True] * 7
    found = curve(_samples(20, x=[0] * 10 + [1] * 10, correct=right), "x", "correct").table
    assert found["mean"].to_pylist() == [1.0, 0.7]
    z = NormalDist().inv_cdf(0.975)
    centre, half = (0.7 + z * z / 20) / (1 + z * z / 10), z * np.sqrt(0.021 + z * z / 400) / (1 + z * z / 10)
    assert found["low"].to_pylist() == pytest.approx([1 / (1 + z * z / 10), centre - half])
    assert found["high"].to_pylist() == pytest.approx([1.0, centre + half])


def test_a_curve_along_classes_keeps_their_order_and_says_whether_they_differ() -> None:
    labels = np.repeat([2, 0, 1], 50)
    samples = Samples.from_arrays(np.zeros((150, 1)), labels, np.eye(4)[labels] * 0.9 + 0.025, {"x": labels * 1.5})
    found = curve(samples, "label", "x")
    assert found.kind == "values"
    assert found.table["value"].to_pylist() == ["0", "1", "2"]
    assert found.table["mean"].to_pylist() == [0, 1.5, 3]
    assert found.words() == "x differs by label: rank share 1.00, 150 samples"


def test_few_different_numbers_are_a_bin_each() -> None:
    found = curve(_samples(60, x=[5, 1, 3] * 20, loss=np.arange(60.0)), "x").table
    assert found["from"].to_pylist() == found["to"].to_pylist() == [1, 3, 5]


def test_samples_without_a_value_are_left_out_and_counted_once() -> None:
    x = [None, float("nan"), float("inf"), *range(17)]
    loss = [*[float("nan")] * 2, *[1.0] * 10, *[2.0] * 6, None, None]
    found = curve(_samples(20, x=x, loss=loss, g=["a"] * 19 + [None]), "x", by="g")
    assert found.notes[0] == (
        "5 of 20 samples are left out: 4 without a finite number in loss, 1 without a finite number in x."
    )
    assert (found.count, found.missing) == (15, 5)
    assert sum(found.table["count"].to_pylist()) == 15


def test_one_sample_in_a_bin_has_no_interval() -> None:
    found = curve(_samples(3, x=[1, 2, 2], loss=[1.0, 2.0, 4.0]), "x")
    assert found.table["low"].to_pylist()[0] is None
    assert found.table["low"].to_pylist()[1] < 3 < found.table["high"].to_pylist()[1]
    assert found.strength is None
    assert found.notes == ("3 samples are too few to say how strongly the two go together; it takes 10.",)
    assert "nothing can be said" in found.words()


def test_a_constant_metric_has_a_curve_but_no_strength() -> None:
    found = curve(_samples(x=np.arange(600), loss=np.ones(600)), "x")
    assert set(found.table["mean"].to_pylist()) == {1.0}
    assert found.strength is None
    assert "loss is the same" in found.notes[0]


def test_huge_whole_numbers_are_numbers() -> None:
    found = curve(_samples(50, x=np.arange(50) * 2**57, loss=np.arange(50.0)), "x")
    assert found.strength is not None
    assert found.strength.value == 1


@pytest.mark.parametrize(
    ("columns", "x", "y", "by", "reason"),
    [
        ({"x": np.ones(600), "loss": np.ones(600)}, "x", "loss", None, "the same for all of 600 samples"),
        ({"x": ["a"] * 600, "loss": np.ones(600)}, "x", "loss", None, "the same for all of 600 samples"),
        ({"x": np.arange(600), "loss": [float("nan")] * 600}, "x", "loss", None, "none of 600 samples has both"),
        ({"x": np.arange(600), "loss": [None] * 600}, "x", "loss", None, "no sample has a value in column 'loss'"),
        ({"x": np.arange(600)}, "x", "loss", None, "The columns are sample, subset, x"),
        ({"x": [None] * 600, "loss": np.ones(600)}, "x", "loss", None, "no sample has a value in column 'x'"),
        ({"x": np.arange(600), "loss": np.ones(600)}, "x", "loss", "label", "no sample has a value in column 'label'"),
        ({"x": list(map(str, range(600))), "loss": np.ones(600)}, "x", "loss", None, "600 different values in 600"),
        ({"loss": np.arange(600.0), "y": np.arange(600)}, "y", "loss", "sample", "600 different values in 600"),
    ],
)
def test_a_curve_that_does_not_apply_says_why(columns: Any, x: str, y: str, by: str | None, reason: str) -> None:
    with pytest.raises(AnalysisUnavailable, match=reason):
        curve(_samples(600, **columns), x, y, by=by)


def test_of_ten_thousand_values_the_most_frequent_are_shown_and_the_rest_is_said() -> None:
    values = [f"v{i % 10_000 if i >= 1000 else 7}" for i in range(30_000)]
    found = curve(_samples(30_000, x=values, loss=np.arange(30_000.0)), "x")
    assert found.table.num_rows == 100
    assert found.table["count"].to_pylist()[found.table["value"].to_pylist().index("v7")] == 1002
    assert found.notes[0].startswith("Of 10,000 values of x the 100 most frequent are shown; the others have ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": "distanc"}, "no column 'distanc'. Did you mean 'distance'"),
        ({"x": "distance", "y": "name"}, "'name' holds string, but numbers are needed"),
        ({"x": "distance", "bins": 0}, "`bins >= 1` must hold, but got bins=0"),
        ({"x": "list"}, "'list' holds list<item: int64>, but one plain value"),
        ({"x": "distance", "by": "list"}, "'list' holds list<item: int64>, but one plain value"),
    ],
)
def test_wrong_arguments_are_refused(arguments: Any, message: str) -> None:
    samples = _samples(4, distance=[1, 2, 3, 4], loss=[1.0] * 4, name=list("abcd"), list=[[1]] * 4)
    with pytest.raises(ConfigurationError, match=message):
        curve(samples, **arguments)


rows = st.lists(
    st.tuples(st.floats(-100, 100) | st.none(), st.floats(0, 9) | st.just(float("nan")), st.sampled_from("abc")),
    min_size=1,
    max_size=50,
)


@given(rows, st.integers(1, 6), st.randoms(use_true_random=False))
def test_counts_add_up_bins_are_ordered_and_shuffling_changes_nothing(
    rows: list[tuple[float | None, float, str]], bins: int, random: Any
) -> None:
    shuffled = random.sample(rows, len(rows))
    tables = []
    for given_rows in (rows, shuffled):
        x, y, g = zip(*given_rows, strict=True)
        samples = _samples(len(rows), x=[None if v is None else float(v) for v in x], loss=y, g=g)
        try:
            found = curve(samples, "x", bins=bins, by="g")
        except (AnalysisUnavailable, ConfigurationError):
            tables.append(None)
            continue
        assert sum(found.table["count"].to_pylist()) == found.count == len(rows) - found.missing
        for part in set(found.table["by"].to_pylist()):
            own = [row for row in found.table.to_pylist() if row["by"] == part]
            edges = [edge for row in own for edge in (row["from"], row["to"])]
            assert edges == sorted(edges)
            assert len({row["from"] for row in own}) == len(own)
        tables.append(found.table)
    assert tables[0] == tables[1]
