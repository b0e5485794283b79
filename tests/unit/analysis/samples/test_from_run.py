"""The samples of an evaluation as analyses know them: columns, classes, probabilities, and vectors of one space."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import softmax

from cutaway.analysis import Population
from cutaway.errors import ConfigurationError, EvaluationError
from cutaway.evaluation import Evaluation, evaluations
from cutaway.run import Run
from cutaway.run.evaluated import answer_of, open_evaluated, population
from cutaway.run.evaluations import write_source
from tests.unit.analysis.kinds import evaluated_kind

pytest.importorskip("torch")


def evaluation_of(name: str, folder: Path) -> Evaluation:
    [found] = evaluations(Run.open(evaluated_kind(name, folder / "run")[0]))
    return found


def test_probabilities_are_the_models_own_or_the_softmax_of_its_logits(tmp_path: Path) -> None:
    with_them = Population.open(evaluated_kind("probabilities", tmp_path / "a")[0]).samples
    folder, _ = evaluated_kind("logits", tmp_path / "b")
    logits = Population.open(folder).samples
    assert with_them.probabilities is not None
    assert with_them.probabilities.shape == (90, 3)
    np.testing.assert_allclose(with_them.probabilities.sum(axis=1), 1, atol=1e-5)
    names = np.array(with_them.classes)[with_them.probabilities.argmax(axis=1)]
    assert names.tolist() == with_them.column("prediction").to_pylist()
    assert logits.probabilities is not None
    [evaluation] = evaluations(Run.open(folder))
    name = f"prediction.{Population.open(folder).origin.answer.prediction}"
    scores = np.stack(evaluation.table("training", [name])[name].to_pylist())
    np.testing.assert_allclose(logits.probabilities[: len(scores)], softmax(scores, axis=1), rtol=1e-5)


def test_many_probabilities_stay_in_their_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = evaluated_kind("probabilities", tmp_path / "run")
    monkeypatch.setattr(population, "MOST_PROBABILITIES", 100)
    assert Population.open(folder).samples.probabilities is None


def test_one_subset_stays_on_disk(tmp_path: Path) -> None:
    folder, _ = evaluated_kind("logits", tmp_path / "run")
    assert isinstance(Population.open(folder, subsets=["training"]).samples.latents, np.memmap)
    assert Population.open(folder).samples.latents.shape == (90, 5)


def test_a_subset_without_labels_has_none_beside_those_that_have(tmp_path: Path) -> None:
    samples = Population.open(evaluated_kind("an_unlabelled_subset", tmp_path / "run")[0]).samples
    subset = np.array(samples.column("subset").to_pylist())
    known = np.asarray(samples.column("label").is_valid())
    assert known[subset == "training"].all()
    assert not known[subset == "unlabeled"].any()
    assert np.asarray(samples.column("prediction").is_valid()).all()


def test_the_only_loss_is_told_once_and_of_two_each(tmp_path: Path) -> None:
    one = Population.open(evaluated_kind("logits", tmp_path / "a")[0]).table.column_names
    two = Population.open(evaluated_kind("two_predictions", tmp_path / "b")[0]).table.column_names
    assert not [name for name in one if name.startswith("loss.")]
    assert len([name for name in two if name.startswith("loss.")]) == 2


def test_a_metadata_column_cannot_take_the_place_of_another(tmp_path: Path) -> None:
    table = Population.open(evaluated_kind("odd_names", tmp_path / "run")[0]).table
    assert table["sample"].to_pylist()[0] == "training/a/b/c"
    assert table["metadata.sample"].to_pylist()[0] == 0


def test_classes_have_numbers_where_nobody_noted_their_names(tmp_path: Path) -> None:
    evaluation = evaluation_of("logits", tmp_path)
    source = dict(evaluation.source.document)
    del source["scores"]["labels"]
    write_source(evaluation, source)
    answer = answer_of(evaluation)
    assert (answer.classes, answer.prediction) == (("0", "1", "2"), "output")


def test_an_unknown_prediction_offers_the_near_ones(tmp_path: Path) -> None:
    evaluation = evaluation_of("two_predictions", tmp_path)
    assert answer_of(evaluation, "size").classes == ()
    with pytest.raises(ConfigurationError, match="Did you mean 'kind'"):
        answer_of(evaluation, "kin")


def test_an_evaluation_without_vectors_says_what_to_do(tmp_path: Path) -> None:
    evaluation = evaluation_of("logits", tmp_path)
    write_source(evaluation, {**evaluation.source.document, "spaces": {}})
    with pytest.raises(EvaluationError, match="has no latent vectors"):
        open_evaluated(evaluation)


def test_a_space_that_a_user_meant_for_analysis_is_taken(tmp_path: Path) -> None:
    evaluation = evaluation_of("logits", tmp_path)
    own = {"own": {"use_for_analysis": True}, "other": {}}
    write_source(evaluation, {**evaluation.source.document, "spaces": {**evaluation.source.document["spaces"], **own}})
    assert open_evaluated(evaluation).space == "own"


def test_vectors_of_two_widths_are_refused(tmp_path: Path) -> None:
    evaluation = evaluation_of("logits", tmp_path)
    np.save(evaluation.path / "validation.latent.npy", np.zeros((30, 9), np.float32))
    with pytest.raises(EvaluationError, match="must be numbers of one width"):
        open_evaluated(evaluation, subsets=["training", "validation"]).latents()
    assert open_evaluated(evaluation, subsets=["training"]).latents().shape == (60, 5)
