"""The confusion matrix as a figure."""

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.figures import confusion_figure
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from tests.unit.analysis.figures.reading_pages import Page


def cells(figure: object) -> list[str]:
    page = Page(figure.html())  # type: ignore[attr-defined]
    return [text for tag, text in page.texts if tag == "td"]


def test_counts_stand_where_label_and_prediction_meet() -> None:
    figure = confusion_figure(np.array([[5, 2], [0, 3]]), ["cat", "dog"])
    assert cells(figure) == ["5", "2", "0", "3"]
    assert "10 samples, 80.0% on the diagonal" in figure.caption
    kinds = [one.get("class") for tag, one in Page(figure.html()).elements if tag == "td"]
    assert kinds == ["hit m8", "miss m10", "zero", "hit m10"]
    assert "2 samples of cat read as dog, 28.6% of its row" in figure.html()


def test_a_table_of_pairs_gives_the_same_figure() -> None:
    pairs = pa.table({"label": ["a", "a", "b"], "prediction": ["a", "b", "b"], "count": [5, 2, 3]})
    assert confusion_figure(pairs, ["a", "b"]).html() == confusion_figure(np.array([[5, 2], [0, 3]]), ["a", "b"]).html()


def test_of_ten_thousand_classes_those_confused_most_are_shown_and_no_sample_is_lost() -> None:
    names = [f"c{one}" for one in range(10_000)]
    pairs = pa.table(
        {
            "label": [*names, "c7", "c9000"],
            "prediction": [*names, "c8", "c9001"],
            "count": [*([3] * 10_000), 50, 60],
        }
    )
    figure = confusion_figure(pairs, names)
    found = cells(figure)
    assert len(found) == 31 * 31
    assert sum(int(one.replace(",", "")) for one in found) == 30_110
    assert "50" in found
    assert "60" in found
    assert "Of 10,000 classes the 30 that are confused most are shown, the rest as one." in figure.caption
    assert figure.png()


def test_classes_without_samples_and_no_samples_at_all_are_drawn() -> None:
    figure = confusion_figure(np.zeros((3, 3), int), list("abc"))
    assert cells(figure) == ["0"] * 9
    assert figure.caption.startswith("0 samples. ")
    assert figure.png()
    assert confusion_figure(np.array([[4]]), ["only"]).png()


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        (np.zeros((2, 3), int), r"2 rows and columns, one for each class, but got int64 of shape \(2, 3\)"),
        (np.zeros((2, 2)), "whole numbers"),
        (pa.table({"label": ["a"]}), "lacks the columns count, prediction"),
        (pa.table({"label": ["a"], "prediction": ["z"], "count": [1]}), "'z', which is none of the classes"),
    ],
)
def test_counts_that_do_not_fit_are_refused(counts: object, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        confusion_figure(counts, ["a", "b"])  # type: ignore[arg-type]


def test_no_classes_make_no_matrix() -> None:
    with pytest.raises(AnalysisUnavailable, match="there are no classes"):
        confusion_figure(np.zeros((0, 0), int), [])
