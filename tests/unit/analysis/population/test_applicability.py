"""Whatever is evaluated gets the analyses that apply to it; of the others it says why they do not."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.analysis import Population, analyze
from cutaway.errors import CutawayError
from tests.unit.analysis.kinds import KINDS, Kind, evaluated_kind

pytest.importorskip("torch")

NO_CLASS = "not one class for each sample"
NO_TRUTH = "no prediction is compared with a ground truth"
NO_VECTOR = "no sample has a latent vector that is finite"
TWO = "it takes two samples"
ALL_LABELLED = {"to label": "every sample has a label"}
ONE_SUBSET = {"leakage": "it takes two subsets, and there is one"}
# What needs a class for each sample.
CLASSES = ("class distances", "confusion", "mislabeled", "ambiguous", "to label")
WITHOUT_CLASSES = {**dict.fromkeys(CLASSES, NO_CLASS), **ONE_SUBSET}
LABELLED_AND_ONE = {**ALL_LABELLED, **ONE_SUBSET}
# Of each kind, what does not apply beside the batches of a training, and words of the reason.
LEFT_OUT: dict[str, dict[str, str]] = {
    "logits": ALL_LABELLED,
    "probabilities": ALL_LABELLED,
    "one_class": {"mislabeled": "every sample has the label '0'", **LABELLED_AND_ONE},
    "one_output": WITHOUT_CLASSES,
    "one_sample": {
        **dict.fromkeys(("similar", "clusters", "duplicates", "leakage", "outliers", "insights"), TWO),
        "mislabeled": "every sample has the label '0'",
        **ALL_LABELLED,
    },
    "a_subset_of_one": ALL_LABELLED,
    "an_empty_subset": LABELLED_AND_ONE,
    "constant_latents": {"clusters": "all latent vectors are the same", **ALL_LABELLED},
    "nan_latents": {
        **dict.fromkeys(("map", "class distances", "units"), NO_VECTOR),
        **dict.fromkeys(("similar", "clusters", "outliers"), TWO),
        "confusion": "these samples have no predictions",
        **ALL_LABELLED,
    },
    "some_nan_latents": LABELLED_AND_ONE,
    "failed_samples": {},
    "ten_thousand_classes": LABELLED_AND_ONE,
    "no_labels": {
        **dict.fromkeys((*CLASSES, "loss heat maps"), NO_TRUTH),
        "curve": "neither a loss nor a metric",
        **ONE_SUBSET,
    },
    "an_unlabelled_subset": {},
    "multi_label": WITHOUT_CLASSES,
    "binary": WITHOUT_CLASSES,
    "regression": WITHOUT_CLASSES,
    "several_numbers": WITHOUT_CLASSES,
    "segmentation": WITHOUT_CLASSES,
    "text": LABELLED_AND_ONE,
    "series": LABELLED_AND_ONE,
    "two_predictions": LABELLED_AND_ONE,
    "odd_names": LABELLED_AND_ONE,
}
# What is known only when it is asked: whether values differ, and whether anything speaks about a label.
ONLY_WHEN_ASKED = {"batches", "curve", "mislabeled", "to label"}
ANALYSES = {
    "map", "similar", "clusters", "class distances", "units", "curve", "confusion", "heat maps", "loss heat maps",
    "batches", "mislabeled", "ambiguous", "duplicates", "leakage", "outliers", "to label", "insights", "compare",
}  # fmt: skip


def opened(folder: Path, kind: Kind) -> Population:
    return Population.open(folder, dataset=kind.dataset, model=kind.model)


def says_nan(lines: tuple[str, ...]) -> bool:
    return any(re.search(r"\bnan\b", line.lower()) for line in lines)


def test_every_kind_has_its_reasons() -> None:
    assert set(LEFT_OUT) == set(KINDS)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", KINDS)
def test_what_applies_is_done_and_the_rest_has_a_reason(name: str, tmp_path: Path) -> None:
    population = opened(*evaluated_kind(name, tmp_path / "run"))
    reasons = {one.analysis: one.reason for one in population.applies() if not one.applies}
    assert {one.analysis for one in population.applies()} == ANALYSES
    assert "no training was watched" in reasons.pop("batches")
    assert set(reasons) == set(LEFT_OUT[name])
    for analysis, words in LEFT_OUT[name].items():
        assert words in reasons[analysis]
    for part in analyze(population):
        assert not says_nan(part.words)
        if part.analysis not in {*reasons, *ONLY_WHEN_ASKED}:
            assert not part.reason
            assert part.tables


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_every_method_answers_or_says_why_not(name: str, tmp_path: Path) -> None:
    folder, kind = evaluated_kind(name, tmp_path / "run")
    with opened(folder, kind) as population:
        for what, ask in every_method(population).items():
            said = refusal(ask)
            assert said is None or len(said) > 20, what


def refusal(ask: Callable[[], Any]) -> str | None:
    """Ask, and return the words of one of our errors; whatever else is raised is a fault."""
    try:
        ask()
    except CutawayError as error:
        return str(error)
    return None


def every_method(population: Population) -> dict[str, Callable[[], Any]]:
    first, last = population.ids[0], len(population) - 1
    vectors = population.samples.latents
    return {
        "umap": population.map,
        "pca": lambda: population.make_map("pca"),
        "tsne": lambda: population.make_map("tsne"),
        "place": lambda: population.place(vectors[:2]),
        "similar": lambda: population.similar(first, 5),
        "similar to several": lambda: population.similar([0, last], 1000),
        "similar to a vector": lambda: population.similar(vectors[0], 3),
        "clusters": lambda: population.describe(population.clusters()),
        "kmeans": lambda: population.describe(population.clusters("kmeans")),
        "three": lambda: population.describe(population.clusters("kmeans", count=3)),
        "distances": lambda: population.distances().in_words(0),
        "class distances": population.class_distances,
        "units": lambda: population.units().words(),
        "units of one": lambda: population.units_of(0).words(),
        "curve": lambda: population.curve("metadata.size").words(),
        "split curve": lambda: population.curve("metadata.colour", by="label").words(),
        "confusion": lambda: population.confusion(by="subset").words(),
        "batches": population.batches,
        "balanced": lambda: population.balanced("label", 10),
        "balanced by facts": lambda: population.balanced(["metadata.colour", "subset"], 10).map(),
        "region": lambda: population.in_region(np.array([[-1, -1], [1, 1]])),
        "nobody": lambda: list(analyze(population.where("subset = training", "subset != training"))),
        "one alone": lambda: list(analyze(population.balanced("subset", 1))),
        "heat map": lambda: population.heat_maps(0),
        "loss heat map": lambda: population.heat_maps(0, loss=True, sanity=False),
        "occlusion": lambda: population.heat_maps(last, "occlusion", sanity=False),
        "mislabeled": population.mislabeled,
        "ambiguous": population.ambiguous,
        "duplicates": population.duplicates,
        "leakage": population.leakage,
        "outliers": population.outliers,
        "to label": lambda: population.to_label(7),
        "to label by coreset": lambda: population.to_label(1, method="coreset"),
        "estimate": population.estimate,
        "insights": population.insights,
        "compare": lambda: population.comparison(population.where("subset = training")).words,
        "figure": lambda: (population.plot().png(), population.plot().html()),
    }


def test_nan_predictions_leave_the_labels(tmp_path: Path) -> None:
    population = opened(*evaluated_kind("nan_latents", tmp_path / "run"))
    assert population.samples.classes == ("0", "1", "2")
    assert population.samples.has("label")
    assert not population.samples.has("prediction")


def test_a_subset_of_which_every_sample_failed_costs_the_others_nothing(tmp_path: Path) -> None:
    folder, _ = evaluated_kind("failed_samples", tmp_path / "run")
    population = Population.open(folder)
    assert (len(population), int(population.samples.finite.sum())) == (64, 55)
    [part] = [one for one in analyze(population) if one.analysis == "map"]
    assert [word.split(" samples")[0] for word in part.words] == ["training: 55", "joint: 55"]
    assert len(Population.open(folder, subsets=["training"])) == 60
    alone = Population.open(folder, subsets=["validation"])
    assert NO_VECTOR in {one.analysis: one.reason for one in alone.applies()}["map"]


def test_a_map_of_nothing_is_refused_and_does_not_cost_the_others(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(40, 3))
    rows[30:] = np.nan
    subset = ["training"] * 30 + ["validation"] * 10
    population = Population.from_arrays(rows, columns={"subset": subset})
    [part] = [one for one in analyze(population) if one.analysis == "map"]
    assert set(part.tables) == {"training", "joint"}
    assert any("validation" in note and "finite" in note for note in part.notes)


def test_too_few_samples_have_a_map_without_a_trustworthiness(tmp_path: Path) -> None:
    population = opened(*evaluated_kind("a_subset_of_one", tmp_path / "run"))
    [part] = [one for one in analyze(population) if one.analysis == "map"]
    assert part.words[0].startswith("training: 40 samples, trustworthiness")
    assert part.words[1] == "validation: 1 samples"
    assert any("need more than 30" in note for note in part.notes)


def test_a_named_prediction_is_analysed(tmp_path: Path) -> None:
    folder, kind = evaluated_kind("two_predictions", tmp_path / "run")
    kinds = Population.open(folder, prediction="kind")
    sizes = Population.open(folder, prediction="size")
    assert kinds.samples.classes == ("0", "1", "2")
    assert sizes.samples.classes == ()
    reasons = {one.analysis: one.reason for one in sizes.applies()}
    assert NO_CLASS in reasons["confusion"]
    with Population.open(folder, prediction="size", dataset=kind.dataset, model=kind.model) as population:
        [made] = population.heat_maps(0, "occlusion", sanity=False)
        assert made.output == "size"
