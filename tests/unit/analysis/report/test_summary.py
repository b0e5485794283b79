"""The few sentences at the top, the scores in them, and the small drawings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cutaway.analysis.population.result import AnalysisResult
from cutaway.analysis.report import Head, ReportContent, Score, scores_of
from cutaway.analysis.report.drawing import interval, line, share
from cutaway.analysis.report.summary import ends_of, interval_words, percent, summary_of, suspected
from cutaway.analysis.samples import Samples
from cutaway.run import Finding
from tests.unit.analysis.report.made import content, ranked


@pytest.mark.parametrize(
    ("health", "said"),
    [
        ("healthy: 12 rules looked", "The training is healthy: 12 rules looked."),
        ("Not checked yet; the training failed", "The training is not checked yet; the training failed."),
        ("2 warnings, the first at step 4", "The training has 2 warnings, the first at step 4."),
        ("loss was NaN at 3 of 9 steps", "Training: loss was NaN at 3 of 9 steps."),
    ],
)
def test_health_is_told_as_a_sentence(health: str, said: str) -> None:
    assert summary_of(ReportContent(Head("run", health=health))) == [said]


def test_a_rich_run_is_told_in_three_to_six_sentences() -> None:
    assert 3 <= len(summary_of(content())) <= 6


def test_accuracy_is_said_with_its_interval_and_what_was_held_out_first() -> None:
    scores = [Score("training", 9, 0, "accuracy", 1.0, 0.9, 1.0), Score("test", 9, 0, "accuracy", 0.95, 0.91, 0.98)]
    [said] = summary_of(ReportContent(Head("run"), scores))
    assert said == (
        "Accuracy is 95.0 % on test (95 % interval 91.0 to 98.0 %), 100 % on training (95 % interval 90.0 to 100 %)."
    )


def test_a_mean_loss_is_never_called_an_accuracy() -> None:
    scores = [Score("validation", 9, 0, "accuracy", 0.95, math.nan, math.nan)]
    scores.append(Score("test", 9, 0, "mean loss", 0.3, math.nan, math.nan))
    assert summary_of(ReportContent(Head("run"), scores)) == [
        "Accuracy is 95.0 % on validation. The mean loss is 0.3 on test."
    ]


def test_what_failed_is_what_could_not_be_evaluated() -> None:
    # Of four samples one failed; of another the latent vector overflowed, and its answer is there.
    latents = np.array([[0.0], [np.nan], [np.inf], [1.0]])
    columns = {"error": [None, "it broke", None, None], "correct": [True, None, True, False]}
    [score] = scores_of(Samples.from_arrays(latents, columns=columns))
    assert (score.samples, score.failed) == (4, 1)
    assert score.value == pytest.approx(2 / 3)


def test_the_worst_finding_is_named_whatever_came_first() -> None:
    findings = [Finding("A", "warning", "small", time=1.0), Finding("B", "error", "large", time=2.0)]
    assert summary_of(ReportContent(Head("run"), findings=findings)) == ["The worst of 2 findings is B (error): large."]


def test_infos_alone_are_no_bad_news() -> None:
    assert summary_of(ReportContent(Head("run"), findings=[Finding("A", "info", "fine")])) == []


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (30, "16 suspicious labels; expect about 12 to be wrong; the first of them are shown below."),
        (1, "1 suspicious label; expect about 1 to be wrong; the first of them are shown below."),
        (0, "No suspicious label."),
    ],
)
def test_suspected_labels_are_those_more_likely_wrong_than_right(rows: int, said: str) -> None:
    given = ReportContent(Head("run"), parts=[AnalysisResult("mislabeled", tables={"mislabeled": ranked(rows=rows)})])
    assert summary_of(given)[0] == said


def test_labels_that_were_not_looked_at_are_not_said_to_be_right() -> None:
    assert suspected(ReportContent(Head("run"), parts=[AnalysisResult("mislabeled", reason="no labels")])) is None


def test_a_run_without_an_evaluation_says_why_nothing_of_its_samples_is_known() -> None:
    given = ReportContent(
        Head("run", health="healthy: 12 rules looked"), missing=[("samples", "there is no evaluation")]
    )
    assert summary_of(given) == ["The training is healthy: 12 rules looked.", "There is no evaluation."]


@pytest.mark.parametrize("value", [0.0, 1e-7, 0.0004, 0.5, 0.9994, 0.99999, 1.0])
def test_no_share_is_rounded_to_none_or_to_all(value: float) -> None:
    said = percent(value)
    assert (said == "100 %") == (value == 1.0)
    assert (said == "0 %") == (value == 0.0)


def test_scores_are_by_subset_and_of_what_there_is() -> None:
    columns = {"subset": ["training"] * 4 + ["test"] * 4, "correct": [True] * 4 + [True, False, True, True]}
    training, test = scores_of(Samples.from_arrays(np.zeros((8, 2)), columns=columns))
    assert (training.value, test.value, test.what) == (1.0, 0.75, "accuracy")
    assert 0 < test.low < 0.75 < test.high < 1
    [only] = scores_of(Samples.from_arrays(np.zeros((3, 2)), columns={"loss": [1.0, 2.0, float("nan")]}))
    assert (only.what, only.value, only.samples) == ("mean loss", 1.5, 3)
    [bare] = scores_of(Samples.from_arrays(np.array([[np.nan], [0.0]])))
    assert (bare.what, bare.failed) == ("", 1)
    assert math.isnan(bare.value)
    [one] = scores_of(Samples.from_arrays(np.zeros((1, 2)), columns={"loss": [1.0]}))
    assert interval_words(one) == ""


def test_no_samples_have_no_scores() -> None:
    assert scores_of(Samples.from_arrays(np.zeros((0, 2)))) == ()
    assert ends_of([]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("values", "strokes", "marks"),
    [
        ([1.0, 2.0, 3.0], 1, 0),
        ([1.0, 2.0, float("nan"), 2.0, 1.0], 2, 1),
        ([1.0, None, 2.0], 0, 2),
        ([1e308, -1e308], 1, 0),
        ([5.0, 5.0], 1, 0),
        ([], 0, 0),
        ([float("inf")], 0, 0),
    ],
)
def test_a_line_has_gaps_where_nothing_is_known(values: list[float | None], strokes: int, marks: int) -> None:
    drawn = line(values)
    assert (drawn.count("<polyline"), drawn.count("<circle")) == (strokes, marks)
    assert "nan" not in drawn
    assert "inf" not in drawn


def test_bars_stay_on_their_rail() -> None:
    assert 'width="100.0"' in share(7.0)
    assert share(float("nan")).count('width="0.0"') == 1
    assert interval(float("nan"), 0, 1, (0, 1)) == ""
    assert interval(0.5, float("nan"), float("nan"), (0, 1)).count("band") == 0
    assert interval(5.0, 0.1, 9.0, (0.0, 1.0)).count("<rect") == 3


def test_insights_are_counted_once_and_not_as_the_worst_finding() -> None:
    given = content(findings=[Finding("low-performance", "error", "thin digits fail", source="analyze")])
    assert not any("thin digits fail" in one for one in summary_of(given))
    assert any("thin digits fail" in one for one in summary_of(ReportContent(Head("run"), findings=given.findings)))


def test_of_a_long_message_the_first_sentence_is_said() -> None:
    message = "Loss is 1.5 on e.g. cats. Collect more of them. " + "And so on. " * 100
    [said] = summary_of(ReportContent(Head("run"), findings=[Finding("A", "error", message)]))
    assert said == "One finding: A (error): Loss is 1.5 on e.g. cats."
