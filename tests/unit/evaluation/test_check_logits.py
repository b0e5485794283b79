"""A softmax followed by a loss that takes logits: a warning with the line to change; its neighbours are silent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.dataset import load_entry
from cutaway.dataset.functions import Loss
from cutaway.dataset.losses import default_losses
from cutaway.evaluation import evaluate
from cutaway.evaluation.check import check
from cutaway.evaluation.check_report import CheckReport
from cutaway.models import Model, SavedTraining
from cutaway.tensors.softmax import softmax
from tests.unit.evaluation.bindings import BrightRows, animals, bright_rows


def scores(values: np.ndarray) -> np.ndarray:
    """Right on every image, and no probabilities: some are below 0."""
    return 10 * values.reshape(len(values), 3, -1).mean(axis=2) - 5


def probabilities(values: np.ndarray) -> np.ndarray:
    return softmax(scores(values))


def crossentropy(animal: np.ndarray, scores: np.ndarray, *, from_logits: bool) -> np.ndarray:
    """As Keras's own: takes probabilities unless it is told otherwise."""
    likely = softmax(scores) if from_logits else scores
    return -np.log((animal * likely).sum(axis=1) + 1e-7)


class Crossentropy:
    """As an object of Keras that keeps what it was told."""

    def __init__(self, *, from_logits: bool = False) -> None:
        self.from_logits = from_logits

    def __call__(self, animal: np.ndarray, scores: np.ndarray) -> np.ndarray:
        return crossentropy(animal, scores, from_logits=self.from_logits)


made_of_logits = Crossentropy(from_logits=True)


def of_logits(animal: np.ndarray, scores: np.ndarray) -> np.ndarray:
    return crossentropy(animal, scores, from_logits=True)


def of_probabilities(animal: np.ndarray, scores: np.ndarray) -> np.ndarray:
    return crossentropy(animal, scores, from_logits=False)


def of_an_object(animal: np.ndarray, scores: np.ndarray) -> np.ndarray:
    return made_of_logits(animal, scores)


LAMBDA = lambda animal, scores: crossentropy(animal, scores, from_logits=True)  # noqa: E731
LINES = Path(__file__).read_text(encoding="utf-8").splitlines()


def line_of(text: str) -> str:
    """Return this file and the line that has a text."""
    return f"{__file__}:{next(i for i, line in enumerate(LINES, 1) if text in line)}"


def warnings(report: CheckReport) -> list[str]:
    assert report.ok, report.findings
    return [one.code for one in report.of("warning")]


@pytest.mark.parametrize(
    ("function", "line"),
    [
        (of_logits, line_of("return crossentropy(animal, scores, from_logits=True)")),
        (of_an_object, line_of("made_of_logits = Crossentropy(from_logits=True)")),
        (LAMBDA, line_of("LAMBDA = lambda")),
    ],
)
def test_a_softmax_given_to_a_loss_of_logits_is_a_warning_with_the_line(function: Any, line: str) -> None:
    report = check(animals(losses=(Loss("mine", function, ("animal", "scores")),)), bright_rows(answer=probabilities))
    assert warnings(report) == ["function-logits"]
    [found] = report.of("warning")
    assert "Loss 'mine' takes logits, but 'scores' holds probabilities" in found.message
    assert found.where["place"] == line
    assert found.evidence["fix"].startswith(f"Set `from_logits=False` in {line}")


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        (of_logits, scores),
        (of_probabilities, probabilities),
        (of_an_object, scores),
        # Scores that lie within 0 to 1 and do not sum to 1 may be logits.
        (of_logits, lambda values: np.clip(scores(values), 0, 0.9)),
    ],
)
def test_a_loss_that_suits_its_model_is_silent(function: Any, answer: Any) -> None:
    report = check(animals(losses=(Loss("mine", function, ("animal", "scores")),)), bright_rows(answer=answer))
    assert warnings(report) == []


@pytest.mark.parametrize("from_logits", [True, False])
def test_an_object_says_itself_what_it_takes(from_logits: bool) -> None:
    loss = Loss("mine", Crossentropy(from_logits=from_logits), ("animal", "scores"))
    found = warnings(check(animals(losses=(loss,)), bright_rows(answer=probabilities)))
    assert found == ["function-logits"] * from_logits


@pytest.mark.parametrize("logits", [True, False])
def test_our_own_loss_of_logits_says_so_by_its_name(logits: bool) -> None:
    name = "CategoricalCrossentropyFromLogits" if logits else "CategoricalCrossentropy"
    [ours] = [one for one in default_losses() if one.name == name]
    loss = Loss(name, ours.function, ("ground_truth", "prediction"))
    assert warnings(check(animals(losses=(loss,)), bright_rows(answer=probabilities))) == ["function-logits"] * logits


def test_the_line_of_a_binding_is_found_too(tmp_path: Path) -> None:
    (tmp_path / "leap_binder.py").write_text(
        """import numpy as np
from cutaway.dataset import PreprocessResponse, leap_binder, tensorleap_custom_loss
from tests.unit.evaluation.bindings import image, one_hot
from tests.unit.evaluation.test_check_logits import crossentropy

leap_binder.set_preprocess(lambda: [PreprocessResponse(30, data=one) for one in ("training", "validation")])
leap_binder.set_input(lambda i, subset: image(subset.data, i), "image")
leap_binder.set_ground_truth(lambda i, subset: one_hot(subset.data, i), "animal")


@tensorleap_custom_loss("mine")
def mine(animal, scores):
    return crossentropy(
        animal,
        scores,
        from_logits=True,
    )
"""
    )
    report = check(load_entry(tmp_path), bright_rows(answer=probabilities))
    assert warnings(report) == ["function-logits"]
    assert report.of("warning")[0].where["place"] == f"{tmp_path / 'leap_binder.py'}:16"


class _Trained(BrightRows):
    """A model that carries the loss of its training."""

    def __init__(self, loss: Any, answer: Any) -> None:
        super().__init__(answer=answer)
        self.description = replace(self.description, training=SavedTraining(loss=loss))


def keras_loss(*, from_logits: bool) -> dict[str, Any]:
    return {"class_name": "CategoricalCrossentropy", "config": {"from_logits": from_logits}}


@pytest.mark.parametrize(
    ("from_logits", "answer", "codes"),
    [(True, probabilities, ["model-logits"]), (False, probabilities, []), (True, scores, [])],
)
def test_a_model_that_was_trained_so_is_a_warning_too(from_logits: bool, answer: Any, codes: list[str]) -> None:
    report = check(animals(), Model(_Trained(keras_loss(from_logits=from_logits), answer)))
    assert warnings(report) == codes


@pytest.mark.parametrize(("answer", "told"), [(probabilities, True), (scores, False)])
def test_an_evaluation_with_such_a_loss_notes_it(tmp_path: Path, answer: Any, told: bool) -> None:
    dataset, model = animals(), bright_rows(answer=answer)
    found = evaluate(dataset, model, tmp_path / "run", loss="CategoricalCrossentropyFromLogits")
    assert any("takes logits, but 'scores' holds probabilities" in note for note in found.source.score_notes) == told
