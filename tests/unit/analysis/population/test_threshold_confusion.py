"""Confusion metrics: a run that has one can be read by everybody, and its decisions are counted at any threshold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis import Population, analyze
from cutaway.analysis.classes.thresholds import threshold_counts
from cutaway.analysis.population.whole import answer, figures_of_part
from cutaway.dataset import Dataset
from cutaway.dataset.enums import ConfusionMatrixValue
from cutaway.dataset.functions import Metric
from cutaway.dataset.responses import ConfusionMatrixElement
from cutaway.errors import AnalysisUnavailable, ConfigurationError, EvaluationError
from cutaway.evaluation import evaluate
from cutaway.run.evaluated.elements import Elements
from cutaway.tensors.softmax import softmax
from tests.unit.evaluation.linear_model import WEIGHTS, linear_model, samples
from tests.unit.studio.one_run import studio_of

METRIC = "ConfusionMatrixClassification"
BOTH = ("training", "validation")


def three_classes(labels: str = "abc", **bound: Any) -> Dataset:
    x, y = samples(60)
    v, w = samples(30, seed=1)
    parts = [
        Dataset.from_arrays({"x": x}, {"y": y}, labels=labels),
        Dataset.from_arrays({"x": v}, {"y": w}, subset="validation"),
    ]
    whole = Dataset.join(*parts)
    return Dataset(whole.subsets, whole.inputs, whole.ground_truths, **bound)


def several_labels(x: np.ndarray) -> np.ndarray:
    """Return labels of which any number may hold."""
    return (x[:, :3] > 0.3).astype(np.float32)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("confusion") / "run"
    evaluate(three_classes(), linear_model(), folder, metrics=[METRIC, "Accuracy"])
    return folder


def expected(threshold: float, subsets: tuple[int, ...] = (1,)) -> dict[str, tuple[int, ...]]:
    """Count by hand: true and false positives, false and true negatives of each class."""
    parts = [samples(60), samples(30, seed=1)]
    x, y = (np.concatenate([parts[i][side] for i in subsets]) for side in (0, 1))
    likely = softmax((x @ WEIGHTS).astype(np.float64))
    found = {}
    for number, name in enumerate("abc"):
        holds, said = y == number, likely[:, number] > threshold
        found[name] = (
            int((holds & said).sum()),
            int((~holds & said).sum()),
            int((holds & ~said).sum()),
            int((~holds & ~said).sum()),
        )
    return found


def counted(table: Any) -> dict[str, tuple[int, ...]]:
    return counted_rows(table.to_pylist())


def counted_rows(rows: list[dict[str, Any]]) -> dict[str, tuple[int, ...]]:
    names = ("true_positives", "false_positives", "false_negatives", "true_negatives")
    return {row["label"]: tuple(row[name] for name in names) for row in rows}


class TestTheRunCanBeRead:
    def test_the_population_opens_without_the_lists_and_names_the_metric(self, run: Path) -> None:
        population = Population.open(run)
        assert len(population) == 90
        assert "metric.Accuracy" in population.table.column_names
        assert f"metric.{METRIC}" not in population.table.column_names
        assert population.origin is not None
        assert population.origin.confusion_metrics == (METRIC,)

    def test_everything_that_applies_is_analysed(self, run: Path) -> None:
        parts = {part.analysis: part for part in analyze(Population.open(run))}
        assert not parts["confusion"].reason
        assert counted(parts["confusion"].tables["thresholds"]) == expected(0.5)
        # What the run kept says the same.
        [again] = [part for part in analyze(Population.open(run)) if part.analysis == "confusion"]
        assert counted(again.tables["thresholds"]) == expected(0.5)
        assert again.words == parts["confusion"].words

    def test_the_page_shows_it_and_counts_its_decisions_in_a_selection(self, run: Path) -> None:
        with studio_of(run.parent) as asked:
            detail = asked.data("run", "/population")
            assert (detail["samples"], detail["confusion_metrics"], detail["notes"]) == (90, [METRIC], [])
            assert not any(one["name"] == f"metric.{METRIC}" for one in detail["columns"])
            asking = {"metric": METRIC, "threshold": 0.25}
            whole = asked.data("run", "/population/thresholds", **asking)
            some = asked.data("run", "/population/thresholds", **asking, where=["subset = validation"])
            assert (some["samples"], counted_rows(some["labels"])) == (30, expected(0.25))
            assert (some["notes"], whole["labels"]) == ([], some["labels"])
            assert whole["notes"] == ["60 training samples, which inflate accuracy, are left out."]
            asked_for = asked.data("run", "/population/thresholds", **asking, where=["subset in training,validation"])
            assert (asked_for["samples"], counted_rows(asked_for["labels"])) == (90, expected(0.25, (0, 1)))
            none = asked.data("run", "/population/thresholds", **asking, where=["loss < 0"])
            assert (none["samples"], none["labels"]) == (0, [])
            unknown = asked.get("run", "/population/thresholds", metric="Accuracy")
            assert (unknown.status_code, METRIC in unknown.json()["hint"]) == (422, True)

    def test_an_own_metric_of_elements_is_read_too(self, tmp_path: Path) -> None:
        def cats(scores: np.ndarray) -> list[list[ConfusionMatrixElement]]:
            # One decision for some samples, none for others.
            return [
                [ConfusionMatrixElement("cat", ConfusionMatrixValue.Positive, 0.75)] if one[0] > 0 else []
                for one in scores
            ]

        evaluate(three_classes(metrics=(Metric("cats", cats, ("scores",)),)), linear_model(), tmp_path / "run")
        x = np.concatenate([samples(60)[0], samples(30, seed=1)[0]])
        above = int(((x @ WEIGHTS)[:, 0] > 0).sum())
        found = Population.open(tmp_path / "run").threshold_confusion("cats", subsets=BOTH)
        assert (found.samples, counted(found.by_label)) == (above, {"cat": (above, 0, 0, 0)})

    def test_samples_without_any_decision_are_no_reason_to_refuse_the_run(self, tmp_path: Path) -> None:
        nothing = Metric("nothing", lambda scores: [[] for _ in scores], ("scores",))
        evaluate(three_classes(metrics=(nothing,)), linear_model(), tmp_path / "run")
        population = Population.open(tmp_path / "run")
        assert population.confusion().count == 30
        with pytest.raises(AnalysisUnavailable, match="no sample has a decision of metric 'nothing'"):
            population.threshold_confusion()

    def test_a_loss_of_elements_is_refused_at_each_sample(self, tmp_path: Path) -> None:
        elements = lambda scores: [[ConfusionMatrixElement("a", ConfusionMatrixValue.Positive, 0.5)] for _ in scores]  # noqa: E731
        evaluation = evaluate(three_classes(), linear_model(), tmp_path / "run", loss=[elements])
        assert evaluation.source.subsets["training"].failed == 60

    @pytest.mark.parametrize("outcome", ["ConfusionMatrixValue.Positive", "positive", "Positive"])
    def test_an_outcome_of_another_package_is_read_by_its_name(self, tmp_path: Path, outcome: str) -> None:
        own = Metric("own", lambda scores: [[ConfusionMatrixElement("a", outcome, 0.75)] for _ in scores], ("scores",))
        evaluate(three_classes(metrics=(own,)), linear_model(), tmp_path / "run")
        assert counted(Population.open(tmp_path / "run").threshold_confusion().by_label) == {"a": (30, 0, 0, 0)}

    def test_an_outcome_that_is_neither_is_told_at_the_sample(self, tmp_path: Path) -> None:
        own = Metric(
            "own", lambda scores: [[ConfusionMatrixElement("a", "perhaps", 0.75)] for _ in scores], ("scores",)
        )
        evaluation = evaluate(three_classes(metrics=(own,)), linear_model(), tmp_path / "run")
        assert "must be Positive or Negative, but is 'perhaps'" in evaluation.failures("training")[0].error


class TestThresholds:
    @pytest.mark.parametrize("threshold", [0.0, 0.25, 0.5, 0.9, 1.0])
    def test_counts_are_those_of_plain_numpy(self, run: Path, threshold: float) -> None:
        found = Population.open(run).threshold_confusion(threshold=threshold)
        assert counted(found.by_label) == expected(threshold)
        assert (found.samples, found.notes) == (30, ("60 training samples, which inflate accuracy, are left out.",))
        both = Population.open(run).threshold_confusion(threshold=threshold, subsets=BOTH)
        assert counted(both.by_label) == expected(threshold, (0, 1))
        assert (both.samples, both.notes) == (90, ())

    def test_precision_recall_and_f1_follow_from_the_counts(self, run: Path) -> None:
        for row in Population.open(run).threshold_confusion().by_label.to_pylist():
            right, false, missed = row["true_positives"], row["false_positives"], row["false_negatives"]
            assert row["precision"] == pytest.approx(right / (right + false))
            assert row["recall"] == pytest.approx(right / (right + missed))
            assert row["f1"] == pytest.approx(2 * right / (2 * right + false + missed))
            assert row["precision_low"] <= row["precision"] <= row["precision_high"]

    def test_a_share_of_nothing_is_null(self, run: Path) -> None:
        row = Population.open(run).threshold_confusion(threshold=2.0).by_label.to_pylist()[0]
        assert (row["precision"], row["recall"]) == (None, 0.0)

    def test_the_words_say_the_totals_of_the_counts(self, run: Path) -> None:
        right, false, missed, _ = np.sum(list(expected(0.5).values()), axis=0)
        words = Population.open(run).threshold_confusion().words()
        assert words.startswith(
            f"{METRIC} above 0.5: precision {right / (right + false):.4f} ({right} of {right + false})"
        )
        assert f"recall {right / (right + missed):.4f} ({right} of {right + missed}), 30 samples" in words

    @pytest.mark.parametrize("subset", [0, 1])
    def test_a_selection_counts_its_own_samples(self, run: Path, subset: int) -> None:
        name = ("training", "validation")[subset]
        chosen = Population.open(run).where(f"subset = {name}")
        assert counted(chosen.threshold_confusion().by_label) == expected(0.5, (subset,))
        assert counted(Population.open(run, subsets=[name]).threshold_confusion().by_label) == expected(0.5, (subset,))
        parts = Population.open(run).threshold_confusion(by="subset").parts
        assert counted(parts[name].by_label) == expected(0.5, (subset,))
        assert not Population.open(run).threshold_confusion(by="subset").notes

    def test_the_matrix_of_classes_counts_a_selection_too(self, run: Path) -> None:
        population = Population.open(run)
        assert population.confusion().count == 30
        assert population.confusion(subsets=BOTH).count == 90
        assert population.where("subset = training").confusion().count == 60

    def test_samples_in_any_order_keep_their_own_decisions(self, run: Path) -> None:
        chosen = Population.open(run).balanced("label", 5, seed=3)
        own = Population.open(run).where(f"sample in {','.join(chosen.ids)}")
        assert counted(chosen.threshold_confusion().by_label) == counted(own.threshold_confusion().by_label)

    def test_a_nan_is_left_out_and_counted(self, tmp_path: Path) -> None:
        def first(scores: np.ndarray) -> list[list[ConfusionMatrixElement]]:
            return [
                [ConfusionMatrixElement("a", ConfusionMatrixValue.Positive, np.nan if i == 0 else 0.75)]
                for i in range(len(scores))
            ]

        evaluate(
            three_classes(metrics=(Metric("first", first, ("scores",)),)),
            linear_model(),
            tmp_path / "run",
            batch_size=64,
        )
        found = Population.open(tmp_path / "run").threshold_confusion(subsets=BOTH)
        assert counted(found.by_label) == {"a": (88, 0, 0, 0)}
        assert found.notes == ("2 of 90 decisions are left out: their probability is NaN.",)

    def test_scores_that_are_no_probabilities_are_said_to_be_scores(self, tmp_path: Path) -> None:
        own = Metric(
            "own",
            lambda scores: [[ConfusionMatrixElement("a", ConfusionMatrixValue.Positive, 3.0)] for _ in scores],
            ("scores",),
        )
        evaluate(three_classes(metrics=(own,)), linear_model(), tmp_path / "run")
        [note] = Population.open(tmp_path / "run").threshold_confusion(subsets=BOTH).notes
        assert "from 3 to 3: they are scores, no probabilities" in note

    def test_several_labels_a_sample_are_all_expected(self, tmp_path: Path) -> None:
        x, _ = samples(40)
        truth = several_labels(x)
        dataset = Dataset.from_arrays({"x": x}, {"y": truth}, labels="abc")
        evaluate(dataset, linear_model(), tmp_path / "run", loss="BinaryCrossentropyFromLogits", metrics=METRIC)
        population = Population.open(tmp_path / "run")
        found = population.threshold_confusion(threshold=0.0)
        said = (x @ WEIGHTS) > 0
        for i, row in enumerate(found.by_label.to_pylist()):
            assert row["label"] == "abc"[i]
            assert row["true_positives"] == int((said[:, i] & (truth[:, i] == 1)).sum())
            assert row["false_negatives"] == int((~said[:, i] & (truth[:, i] == 1)).sum())
        [part] = [one for one in analyze(population) if one.analysis == "confusion"]
        assert not part.reason
        assert list(figures_of_part(population, part)) == [METRIC]

    def test_subsets_without_any_decision_are_told_of(self) -> None:
        belongs = pa.chunked_array([["training", "validation"]])
        labels, expected = pa.array(["a", "a"]), np.array([True, True])
        elements = Elements(np.array([0, 1]), labels, expected, np.array([np.nan, 0.7]))
        assert counted(threshold_counts("own", elements, belongs).by_label) == {"a": (1, 0, 0, 0)}
        with pytest.raises(AnalysisUnavailable, match="no sample has a decision of metric 'own'"):
            threshold_counts("own", elements, belongs, subsets=["training"])

    def test_where_nothing_is_held_out_training_counts(self, run: Path) -> None:
        found = Population.open(run, subsets=["training"]).threshold_confusion()
        assert (counted(found.by_label), found.notes) == (expected(0.5, (0,)), ())

    def test_what_is_not_there_is_said_with_what_is(self, run: Path, tmp_path: Path) -> None:
        with pytest.raises(ConfigurationError, match="Did you mean 'validation'"):
            Population.open(run).threshold_confusion(subsets=["valid"])
        with pytest.raises(EvaluationError, match=f"Did you mean '{METRIC}'"):
            Population.open(run).threshold_confusion("ConfusionMatrix")
        evaluate(three_classes(), linear_model(), tmp_path / "plain")
        with pytest.raises(AnalysisUnavailable, match="no metric of confusion elements"):
            Population.open(tmp_path / "plain").threshold_confusion()
        with pytest.raises(AnalysisUnavailable, match="no metric of confusion elements"):
            Population.from_arrays(np.zeros((3, 2))).threshold_confusion()


class TestTheAnswer:
    def test_asked_plainly_it_is_the_matrix_of_classes_and_says_how_to_ask_for_the_threshold(self, run: Path) -> None:
        found = answer(Population.open(run), "confusion")
        assert found.shown == "most_confused"
        assert any(f"`--metric {METRIC}`" in note for note in found.notes)

    def test_asked_with_a_threshold_it_is_each_label(self, run: Path) -> None:
        found = answer(Population.open(run), "confusion", {"threshold": 0.25})
        assert counted(found.tables["thresholds"]) == expected(0.25)
        assert set(found.tables["thresholds"]["threshold"].to_pylist()) == {0.25}
        assert found.figures["thresholds"]().png().startswith(b"\x89PNG")

    def test_split_by_a_column_it_has_a_row_for_each_part_and_label(self, run: Path) -> None:
        table = answer(Population.open(run), "confusion", {"metric": METRIC, "by": "subset"}).tables["thresholds"]
        assert table["part"].to_pylist() == [None] * 3 + ["training"] * 3 + ["validation"] * 3
