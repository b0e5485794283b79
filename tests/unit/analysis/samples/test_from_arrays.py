"""Samples in arrays: what a person may give, and what is said of what they may not."""

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.samples import Samples
from cutaway.errors import ConfigurationError

LATENTS = np.arange(12, dtype=np.float64).reshape(4, 3)


def test_latents_alone_are_enough() -> None:
    samples = Samples.from_arrays(LATENTS)
    assert samples.ids == ["0", "1", "2", "3"]
    assert samples.table.column_names == ["sample", "subset"]
    assert samples.latents.dtype == np.float32
    assert not samples.has("label")


def test_predictions_and_losses_follow_from_labels_and_probabilities() -> None:
    chances = np.array([[0.75, 0.25], [0.5, 0.5], [0.0, 1.0], [1.0, 0.0]])
    samples = Samples.from_arrays(LATENTS, [0, 0, 1, 1], chances)
    assert samples.classes == ("0", "1")
    assert samples.column("prediction").to_pylist() == ["0", "0", "1", "0"]
    assert samples.column("correct").to_pylist() == [True, True, True, False]
    np.testing.assert_allclose(samples.numbers("loss")[:3], [-np.log(0.75), np.log(2), 0], rtol=1e-5)
    assert np.isfinite(samples.numbers("loss")).all()


def test_names_of_classes_are_in_their_order_and_numbers_are_counted() -> None:
    assert Samples.from_arrays(LATENTS, ["dog", "cat", "cat", "ant"]).classes == ("ant", "cat", "dog")
    assert Samples.from_arrays(LATENTS, [10, 2, 9, 2]).classes == ("2", "9", "10")


def test_a_missing_label_stays_missing() -> None:
    samples = Samples.from_arrays(LATENTS, [0, None, 1, None], np.full((4, 2), 0.5))
    assert samples.column("label").to_pylist() == ["0", None, "1", None]
    assert samples.column("correct").null_count == 2
    assert samples.column("loss").null_count == 2
    assert Samples.from_arrays(LATENTS, [0.0, np.nan, 1.0, 1.0]).column("label").null_count == 1


def test_a_row_of_probabilities_that_is_not_finite_predicts_nothing() -> None:
    chances = np.array([[np.nan, 1], [0.2, 0.8], [0.2, 0.8], [0.2, 0.8]])
    samples = Samples.from_arrays(LATENTS, [0, 1, 1, 0], chances)
    assert samples.column("prediction").to_pylist() == [None, "1", "1", "1"]
    assert samples.column("loss").to_pylist()[0] is None


def test_columns_give_ids_subsets_and_further_facts() -> None:
    columns = {"sample": [7, 8, 9, 10], "subset": ["a", "a", "b", "b"], "brightness": [0.1, None, 0.3, 0.4]}
    samples = Samples.from_arrays(LATENTS, columns=columns)
    assert samples.ids == ["7", "8", "9", "10"]
    assert np.isnan(samples.numbers("brightness")[1])
    same = Samples.from_arrays(LATENTS, columns=pa.table({"brightness": [1, 2, 3, 4]}))
    assert same.numbers("brightness").tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"latents": np.zeros(4)}, "a row for each sample"),
        ({"latents": np.array([["a"]])}, "must be numbers"),
        ({"labels": [0, 1]}, "one class for each of 4 samples"),
        ({"labels": [[0], [1], [1], [0]]}, "one class for each"),
        ({"probabilities": np.zeros((3, 2))}, "a row for each of 4 samples"),
        ({"labels": [0, 1, 2, 3], "probabilities": np.zeros((4, 2))}, "reach 3"),
        ({"labels": ["a", "b", "a", "c"], "probabilities": np.zeros((4, 2))}, "numbers of the columns"),
        ({"columns": {"x": [1, 2]}}, "Column 'x' has 2 values for 4 samples"),
        ({"columns": {"x": [1, "a", 2, 3]}}, "Column 'x' is none"),
        ({"columns": {"sample": [1, 1, 2, 3]}}, "names one sample twice"),
    ],
)
def test_what_cannot_be_used_is_said(arguments: dict, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Samples.from_arrays(**{"latents": LATENTS, **arguments})


def test_rows_are_taken_by_position_and_by_mask() -> None:
    samples = Samples.from_arrays(LATENTS, [0, 1, 1, 0], np.full((4, 2), 0.5))
    some = samples.take(np.array([2, 0]))
    assert (some.ids, some.latents[0].tolist()) == (["2", "0"], [6, 7, 8])
    assert samples.take(np.array([False, True, False, True])).ids == ["1", "3"]


def test_an_unknown_column_offers_the_nearest_names() -> None:
    with pytest.raises(ConfigurationError, match="Did you mean 'subset'"):
        Samples.from_arrays(LATENTS).column("subst")
    with pytest.raises(ConfigurationError, match="numbers are needed"):
        Samples.from_arrays(LATENTS).numbers("subset")
