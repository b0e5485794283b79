"""Curves along metadata and along batches."""

import math

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.figures import batches_figure, curve_figure
from cutaway.analysis.figures.curves import MOST_SPOTS
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from tests.unit.analysis.figures.made import bins
from tests.unit.analysis.figures.reading_pages import Page


def split(parts: int) -> pa.Table:
    rows = [
        {
            "by": f"p{part}",
            "from": float(at),
            "to": at + 1.0,
            "count": part + 1,
            "mean": float(part),
            "low": 0.0,
            "high": 9.0,
        }
        for part in range(parts)
        for at in range(2)
    ]
    return pa.Table.from_pylist(rows)


def test_bins_of_numbers_are_a_line_with_an_interval_and_bars_of_counts() -> None:
    data = Page(curve_figure(bins(), x="age", y="loss").html()).data
    above, below = data["panels"]
    assert data["spots"]["x"] == [0.45, 1.5, 3.25]
    assert data["spots"]["texts"] == ["0 to 0.9", "1 to 2", "2.5 to 4"]
    assert above["series"][0]["y"] == [0.1, 0.4, 0.9]
    assert above["series"][0]["low"] == [0.0, 0.3, None]
    assert below["series"][0]["y"] == [10, 20, 5]
    assert (above["label"], below["label"]) == ("mean loss", "samples")


def test_the_numbers_of_a_chart_are_also_a_table() -> None:
    page = Page(curve_figure(bins(), x="age").html())
    cells = [text for tag, text in page.texts if tag == "td"]
    assert cells == ["0.1 (0 to 0.2)", "10", "0.4 (0.3 to 0.5)", "20", "0.9", "5"]


def test_values_are_points_in_their_own_order() -> None:
    figure = curve_figure(bins("zebra"), x="animal")
    data = Page(figure.html()).data
    assert data["spots"]["texts"] == ["zebra", "b", "c"]
    assert data["spots"]["named"]
    assert data["panels"][0]["series"][0]["kind"] == "points"
    assert figure.png()


def test_a_split_curve_has_a_line_for_each_part_and_counts_of_all() -> None:
    figure = curve_figure(split(3), by="label")
    above, below = Page(figure.html()).data["panels"]
    assert [one["name"] for one in above["series"]] == ["p0", "p1", "p2"]
    assert below["series"][0]["y"] == [6, 6]
    assert "a line for each value of label, with 95 % intervals" in figure.caption
    assert figure.png()


def test_of_many_lines_those_with_the_most_samples_are_drawn() -> None:
    figure = curve_figure(split(100))
    above, below = Page(figure.html()).data["panels"]
    assert [one["name"] for one in above["series"]] == [f"p{part}" for part in range(90, 100)]
    assert below["series"][0]["y"] == [5050, 5050]
    assert "Of 100 lines the 10 with the most samples are drawn." in figure.caption
    assert "intervals only in the page's numbers" in figure.caption
    assert figure.png()


def test_one_bin_of_one_value_is_drawn() -> None:
    figure = curve_figure(pa.table({"from": [3.0], "to": [3.0], "count": [1], "mean": [0.5]}))
    assert Page(figure.html()).data["spots"]["texts"] == ["3"]
    assert "interval" not in figure.caption
    assert figure.png()


def test_a_table_that_is_no_curve_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="must have 'count', 'mean' and 'from' or 'value', but has a"):
        curve_figure(pa.table({"a": [1]}))
    with pytest.raises(AnalysisUnavailable, match="no bins"):
        curve_figure(bins().slice(0, 0))


def test_loss_is_on_the_left_and_accuracy_on_the_right_raw_behind_smoothed() -> None:
    generator = np.random.default_rng(0)
    loss = np.linspace(2, 0, 500) + generator.normal(0, 0.2, 500)
    steps = pa.table({"batch": list(range(500)), "loss": loss, "accuracy": 1 - loss / 3})
    data = Page(batches_figure(steps).html()).data
    (panel,) = data["panels"]
    raw, smooth, _, accuracy = panel["series"]
    assert (raw["faint"], smooth["faint"], raw["right"], accuracy["right"]) == (True, False, False, True)
    assert np.allclose(raw["y"], loss)
    assert np.abs(np.diff(smooth["y"])).mean() < np.abs(np.diff(raw["y"])).mean() / 4
    assert np.abs(np.array(smooth["y"]) - np.linspace(2, 0, 500)).max() < 0.3
    assert (panel["label"], panel["rightLabel"]) == ("loss", "accuracy")


def test_a_smoothed_column_is_drawn_as_it_is() -> None:
    steps = pa.table({"step": [2, 1], "loss": [1.0, 3.0], "loss_smoothed": [5.0, 6.0]})
    figure = batches_figure(steps)
    raw, smooth = Page(figure.html()).data["panels"][0]["series"]
    assert (raw["y"], smooth["y"]) == ([3.0, 1.0], [6.0, 5.0])
    assert "smoothed over" not in figure.caption


def test_a_long_training_is_pooled_and_keeps_its_extremes() -> None:
    loss = np.ones(50_001)
    loss[31_234] = 77
    figure = batches_figure(pa.table({"step": np.arange(50_001), "loss": loss}))
    raw = Page(figure.html()).data["panels"][0]["series"][0]
    assert len(raw["y"]) <= MOST_SPOTS
    assert max(raw["high"]) == 77
    assert "Each point is the mean of 26 batches, with their extremes." in figure.caption


def test_a_loss_that_is_not_finite_is_a_gap() -> None:
    steps = pa.table({"step": [0, 1, 2, 3], "loss": [1.0, math.nan, None, math.inf], "accuracy": [0.1, 0.2, 0.3, 0.4]})
    figure = batches_figure(steps)
    assert Page(figure.html()).data["panels"][0]["series"][0]["y"] == [1.0, None, None, None]
    assert figure.png()


@pytest.mark.parametrize("columns", [{"step": [1]}, {"loss": [1.0]}, {}])
def test_a_table_that_has_no_batches_is_refused(columns: dict) -> None:
    with pytest.raises(ConfigurationError, match="must have"):
        batches_figure(pa.table(columns))
    with pytest.raises(AnalysisUnavailable, match="no batches"):
        batches_figure(pa.table({"step": pa.array([], pa.int64()), "loss": pa.array([], pa.float64())}))


def test_what_is_known_of_no_batch_is_left_out() -> None:
    steps = pa.table({"step": [0, 1], "loss": [1.0, 2.0], "accuracy": pa.nulls(2, pa.float64())})
    figure = batches_figure(steps)
    (panel,) = Page(figure.html()).data["panels"]
    assert [one["name"] for one in panel["series"]] == ["loss raw", "loss"]
    assert panel["rightLabel"] == ""
    only = batches_figure(pa.table({"step": [0, 1], "loss": pa.nulls(2, pa.float64()), "accuracy": [0.1, 0.2]}))
    assert Page(only.html()).data["panels"][0]["label"] == "accuracy"
    with pytest.raises(AnalysisUnavailable, match="no batch has a finite loss or accuracy"):
        batches_figure(steps.drop(["accuracy"]).set_column(1, "loss", pa.nulls(2, pa.float64())))
