"""One sample over HTTP: what is known of it, its visuals, its heat maps and its similars, on images and on a text."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.analysis import Population
from cutaway.dataset import Dataset
from cutaway.evaluation import evaluate
from cutaway.run import Run
from cutaway.run.decisions import STUDIO, Decisions, Rejection, write_decisions
from cutaway.run.overlays import Correction
from tests.unit.studio.a_model import a_model
from tests.unit.studio.asked_model import digits_run, text_run
from tests.unit.studio.one_run import Asked, studio_of

pytest.importorskip("onnxruntime")

SERVER_PATH = f"{os.sep}tmp{os.sep}"


class Place:
    """A studio over a run of images, one of words, and one of arrays without a binding."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.digits = digits_run(folder / "digits", folder / "runs" / "digits")
        text_run(folder / "text", folder / "runs" / "text")
        x = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)
        evaluate(Dataset.from_arrays(x, np.arange(12) % 3), a_model(), folder / "runs" / "arrays")
        population = Population.open(self.digits)
        self.mislabeled = population.mislabeled()
        population.make_map("pca")
        run = Run.open(self.digits)
        label = population.table["label"][5].as_py()
        fixed = Correction("training/5", "label", label, "3" if label != "3" else "4", who=STUDIO)
        rejected = {"training/6": Rejection("training/6")}
        classes = tuple(map(str, range(10)))
        write_decisions(run, Decisions({("training/5", "label"): fixed}, rejected, classes=classes, truth="digit"))

    def misbehaves(self, what: str) -> None:
        (self.folder / "digits" / "fault").write_text(what)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("samples"))


@pytest.fixture(scope="module")
def asked(place: Place) -> Iterator[Asked]:
    with studio_of(place.folder / "runs") as found:
        yield found


def array(value: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(value["data"]), value["dtype"]).reshape(value["shape"])


def test_a_sample_is_told_as_its_evaluation_has_it(asked: Asked, place: Place) -> None:
    population = Population.open(place.digits)
    row = population.row("training/12")
    told = asked.data("digits", "/sample", sample="training/12")
    assert (told["sample"], told["row"], told["subset"], told["evaluation"]) == ("training/12", row, "training", 0)
    assert told["label"] == population.table["label"][row].as_py()
    assert told["prediction"] == population.table["prediction"][row].as_py()
    assert told["loss"] == pytest.approx(population.table["loss"][row].as_py())
    assert (told["previous"], told["next"], told["preview"]) == ("training/11", "training/13", True)
    assert told["failed"] == ""
    assert told["visits"] is None  # nothing was trained in this run
    assert population.samples.probabilities is not None
    likely = population.samples.probabilities[row]
    assert [one["name"] for one in told["classes"]] == [str(one) for one in np.argsort(-likely, kind="stable")]
    assert told["classes"][0]["probability"] == pytest.approx(float(likely.max()), rel=1e-5)
    assert told["class_count"] == 10


def test_facts_say_where_a_number_lies_among_all_and_texts_have_no_rank(asked: Asked, place: Place) -> None:
    values = np.array(Population.open(place.digits).table["metadata.brightness"].to_pylist()[:90], np.float64)
    told = {one["name"]: one for one in asked.data("digits", "/sample", sample="training/12")["metadata"]}
    whole = np.array([one for one in Population.open(place.digits).table["metadata.brightness"].to_pylist() if one])
    assert told["brightness"]["value"] == pytest.approx(values[12])
    assert told["brightness"]["rank"] == pytest.approx((whole < values[12]).mean())
    assert told["name"] == {"name": "name", "value": "<b>12</b>", "rank": None}


def test_what_was_not_analysed_is_said_with_the_command_that_does_it(asked: Asked) -> None:
    told = asked.data("digits", "/sample", sample="training/12")
    assert any("`cutaway analyze digits class-distances`" in note for note in told["notes"])
    assert any("`cutaway analyze digits duplicates`" in note for note in told["notes"])
    assert (told["cluster"], told["cluster_words"], told["twins"]) == (None, "", [])
    assert told["x"] is not None


def test_a_doubt_about_a_label_and_what_was_decided_come_together(asked: Asked, place: Place) -> None:
    first = place.mislabeled.slice(0, 1).to_pylist()[0]
    told = asked.data("digits", "/sample", sample=first["sample"])["suggestion"]
    assert (told["suggested"], told["reason"]) == (first["suggested"], first["reason"])
    # So few labels have no score; which of them to look at first is known.
    assert (told["score"], first["score"]) == (None, None)
    accepted = asked.data("digits", "/sample", sample="training/5")["suggestion"]
    assert (accepted["decision"], accepted["overlay"]) == ("accepted", "studio")
    assert accepted["decided_label"] in {"3", "4"}
    assert asked.data("digits", "/sample", sample="training/6")["suggestion"]["decision"] == "rejected"


def test_the_first_and_the_last_sample_have_one_neighbour(asked: Asked) -> None:
    first = asked.data("digits", "/sample", sample="training/0")
    last = asked.data("digits", "/sample", sample="validation/39")
    assert (first["previous"], last["next"]) == (None, None)
    assert (first["next"], last["previous"]) == ("training/1", "validation/38")


def test_a_sample_that_failed_says_why_without_a_path_of_the_server(asked: Asked) -> None:
    answer = asked.get("digits", "/sample", sample="validation/7")
    told = answer.json()["data"]
    assert "number seven is torn" in told["failed"]
    assert (told["prediction"], told["correct"], told["classes"], told["loss"]) == (None, None, [], None)
    assert SERVER_PATH not in answer.text


@pytest.mark.parametrize("path", ["/sample", "/sample/visuals", "/sample/heat-maps", "/sample/similar"])
def test_an_unknown_sample_is_not_found_and_the_nearest_is_offered(asked: Asked, path: str) -> None:
    answer = asked.get("digits", path, sample="trainin/12")
    assert (answer.status_code, answer.json()["code"]) == (404, "sample-unavailable")
    assert "Did you mean 'training/12'" in answer.json()["hint"]
    assert asked.get("digits", path, sample="training/12", evaluation=9).status_code == 404


def test_visuals_are_what_the_bindings_own_visualizers_return(asked: Asked, place: Place) -> None:
    large, answer = asked.data("digits", "/sample/visuals", sample="training/12")
    assert (large["name"], large["type"], answer["type"]) == ("large", "Image", "HorizontalBar")
    pixels = array(large["data"]["image"])
    image = np.load(place.folder / "digits" / "digits.npz")["x"][12]
    assert np.array_equal(pixels, np.kron(image * 255, np.ones((4, 4, 1))).astype(np.uint8))
    population = Population.open(place.digits)
    assert population.origin is not None
    kept = population.origin.evaluation.values("training", "prediction.prediction", 12)
    assert array(answer["data"]["body"]) == pytest.approx(kept)
    (sentence,) = asked.data("text", "/sample/visuals", sample="validation/3")
    assert (sentence["type"], len(sentence["data"]["tokens"])) == ("Text", 32)


def test_a_visualizer_that_fails_costs_its_own_picture_only(asked: Asked, place: Place) -> None:
    place.misbehaves("draw raise")
    try:
        answer = asked.get("digits", "/sample/visuals", sample="training/13")
    finally:
        place.misbehaves("nothing")
    large, bars = answer.json()["data"]
    assert "this sample is broken" in large["error"]
    assert "leap_binder.py:" in large["error"]
    assert SERVER_PATH not in answer.text
    assert (large["data"], bars["error"]) == ({}, "")


def test_without_a_binding_the_reason_comes_in_place_of_visuals(asked: Asked) -> None:
    sample = str(asked.studio.populations.of(asked.id_of("arrays")).ids[0])
    answer = asked.get("arrays", "/sample/visuals", sample=sample)
    assert (answer.status_code, answer.json()["code"]) == (409, "no-binding")
    assert "existed only in memory" in answer.json()["error"]
    assert "cutaway evaluate" in answer.json()["hint"]
    assert asked.data("arrays", "/sample", sample=sample)["sample"] == sample
    assert asked.data("arrays", "/sample/similar", sample=sample, count=3)["similar"]


def test_a_heat_map_is_the_librarys_with_what_else_can_be_asked(asked: Asked, place: Place) -> None:
    told = asked.data("digits", "/sample/heat-maps", sample="training/12", sanity=False)
    (one,) = told["maps"]
    (expected,) = Population.open(place.digits).heat_maps("training/12", sanity=False)
    assert (one["method"], one["layer"], one["sanity"]) == (expected.method, expected.layer, None)
    assert array(one["values"]) == pytest.approx(expected.values)
    assert one["visuals"][0]["type"] == "ImageWithHeatmap"
    assert told["methods"]["grad_cam"] == ""
    assert one["layer"] is None or one["layer"] in told["layers"]
    assert "was chosen: on " in " ".join(one["notes"])
    assert told["classes"] == [str(one) for one in range(10)]
    assert told["seconds"] > 0


def test_how_far_to_trust_a_map_is_said_in_a_sentence(asked: Asked) -> None:
    (one,) = asked.data("digits", "/sample/heat-maps", sample="training/12", sanity=True)["maps"]
    sanity = one["sanity"]
    assert (sanity["verdict"] == "better") == (sanity["deletion"] < sanity["random_best"])
    expected = {
        "better": "lowers the score more than any of 20 random maps",
        "no different": "No different from random: ",
        "worse": "Worse than random: ",
    }
    assert expected[sanity["verdict"]] in sanity["sentence"]


def test_classes_layers_and_methods_can_be_chosen_and_wrong_ones_are_refused_with_the_right(asked: Asked) -> None:
    told = asked.data("digits", "/sample/heat-maps", sample="training/12", target=["4", "9"], sanity=False)
    assert [one["target"] for one in told["maps"]] == ["4", "9"]
    told = asked.data("digits", "/sample/heat-maps", sample="training/12", method="occlusion", sanity=False)
    assert (told["maps"][0]["method"], told["maps"][0]["signed"]) == ("occlusion", True)
    wrong = asked.get("digits", "/sample/heat-maps", sample="training/12", target="eleven")
    assert (wrong.status_code, wrong.json()["error"]) == (400, "There is no class 'eleven'.")
    wrong = asked.get("digits", "/sample/heat-maps", sample="training/12", layer="nowhere", method="grad_cam")
    assert wrong.status_code == 404


def test_a_heat_map_of_a_text_has_a_number_for_each_word(asked: Asked) -> None:
    told = asked.data("text", "/sample/heat-maps", sample="validation/3", sanity=False)
    (one,) = told["maps"]
    assert array(one["values"]).shape == (32,)
    assert one["visuals"][0]["type"] == "Text"
    assert "whole numbers" in told["methods"]["integrated_gradients"]


def test_similars_are_the_librarys_and_keep_to_conditions(asked: Asked, place: Place) -> None:
    population = Population.open(place.digits)
    expected = population.find_similar("training/12", 6)
    told = asked.data("digits", "/sample/similar", sample="training/12", count=6)
    assert [one["sample"] for one in told["similar"]] == expected.table["sample"].to_pylist()
    assert [one["label"] for one in told["similar"]] == expected.table["label"].to_pylist()
    assert told["labels"] == expected.counts
    assert all(one["preview"] for one in told["similar"])
    own = population.table["label"][12].as_py()
    others = asked.data("digits", "/sample/similar", sample="training/12", count=6, where=[f"label != {own}"])
    assert own not in {one["label"] for one in others["similar"]}
    several = asked.data("digits", "/sample/similar", sample=["training/12", "training/13"], count=6)
    assert {"training/12", "training/13"}.isdisjoint(one["sample"] for one in several["similar"])
    wrong = asked.get("digits", "/sample/similar", sample="training/12", where=["lable = 3"])
    assert (wrong.status_code, "Did you mean 'label'" in wrong.text) == (400, True)


def test_a_sample_without_a_latent_vector_has_no_similars_and_says_so(asked: Asked) -> None:
    answer = asked.get("digits", "/sample/similar", sample="validation/7")
    assert (answer.status_code, answer.json()["code"]) == (404, "analysis-unavailable")
    assert "is not finite" in answer.json()["error"]
