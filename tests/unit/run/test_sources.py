"""What `source.json` says, as one value: whole where Cutaway wrote it, told where somebody else did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from cutaway.run.sources import Pair, Source, SpaceSource, read_source

WHOLE: dict[str, Any] = {
    "state": "finished",
    "key": "k",
    "time": "2026-01-02T03:04:05+00:00",
    "epoch": 3,
    "seconds": 1.5,
    "binding": {"kind": "entry", "entry_file": "/x/leap.py", "digest": "d", "overlay": "o", "samples": {"training": 2}},
    "model": {"format": "onnx", "file": "/x/m.onnx", "sha256": "s", "kept": None, "class": "Net", "parameters": 7},
    "wiring": {"predictions": {"output": "scores"}, "ground_truths": {"scores": "label"}},
    "subsets": {"training": {"samples": 2, "failed": 1, "means": {"loss": 0.5, "metric.a": None}}},
    "spaces": {"latent": {"layer": "fc"}, "mine": {"use_for_analysis": True}},
    "scores": {
        "pairs": {"scores": {"classes": 2, "probabilities": True, "comparable": True}},
        "labels": {"prediction.scores": {"classes": 2, "names": ["cat", "dog"]}},
        "losses": ["CategoricalCrossentropy"],
        "notes": ["trained with it"],
    },
    "notes": ["moved"],
    "options": {"epoch": 3},
    "versions": {"cutaway": "0"},
}


def test_what_cutaway_writes_is_read_whole() -> None:
    source = read_source(WHOLE)
    assert (source.problem, source.finished, source.key, source.epoch, source.seconds) == ("", True, "k", 3, 1.5)
    assert (source.binding.entry_file, source.binding.overlay, source.binding.samples) == (
        "/x/leap.py",
        "o",
        {"training": 2},
    )
    assert (source.model.file, source.model.kept, source.model.class_name) == ("/x/m.onnx", "", "Net")
    assert (source.predictions, source.ground_truths) == ({"output": "scores"}, {"scores": "label"})
    training = source.subsets["training"]
    assert (training.samples, training.failed, training.means["loss"]) == (2, 1, 0.5)
    assert source.spaces == {"latent": SpaceSource("fc"), "mine": SpaceSource(use_for_analysis=True)}
    assert source.pairs == {"scores": Pair(2, probabilities=True)}
    assert source.class_names == {"prediction.scores": ("cat", "dog")}
    assert source.document is WHOLE


def test_what_is_not_there_is_no_problem() -> None:
    assert read_source({}) == Source(document={})


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"binding": 5}, "binding is a int"),
        ({"model": [1]}, "model is a list"),
        ({"wiring": "x"}, "wiring.predictions is a str"),
        ({"wiring": {"predictions": {"output": ["scores"]}}}, "wiring.predictions.output is a list"),
        ({"spaces": ["latent"]}, "spaces is a list"),
        ({"subsets": {"training": 3}}, "subsets has something else than mappings"),
        ({"scores": {"pairs": {"scores": {"classes": 10**12}}}}, f"scores.pairs.scores.classes is {10**12}"),
        ({"scores": {"pairs": {"scores": {"classes": "many"}}}}, "scores.pairs.scores.classes is many"),
        ({"scores": {"labels": {"a": {"names": [1]}}}}, "scores.labels.a.names is not a list of texts"),
    ],
)
def test_what_a_stranger_wrote_is_told_and_left_out(change: Mapping[str, Any], problem: str) -> None:
    source = read_source({**WHOLE, **change})
    assert source.problem == problem
    assert (source.finished, source.key) == (True, "k")


def test_values_of_another_kind_count_as_not_there() -> None:
    odd = {"key": 5, "epoch": True, "seconds": "long", "notes": "a note", "options": [], "time": 7}
    source = read_source({**odd, "subsets": {"training": {"samples": 2**60, "failed": None, "means": {"loss": "low"}}}})
    assert (source.key, source.epoch, source.seconds, source.notes, source.time) == (None, None, 0.0, (), None)
    assert (source.subsets["training"].samples, source.subsets["training"].means) == (None, {"loss": None})
    assert source.options == {}
