"""`Source`: what `source.json` says of how an evaluation was made, checked once, here.

A run may come from anybody, or from an older release: what is not as Cutaway writes it counts as not there, and
`problem` says what the first such thing was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["BindingSource", "ModelSource", "Pair", "Source", "SpaceSource", "SubsetSource", "read_source"]

# More classes than any model has that one screen could show; a file may claim any number.
MOST_CLASSES = 1_000_000
# More samples than a number in JSON can count.
_MOST_SAMPLES = 2**53


class Pair(NamedTuple):
    """What a ground truth and a prediction are to each other.

    `classes` is how many the prediction tells apart where both are about classes, 0 where they are numbers;
    `comparable` says whether they can be compared at all.
    """

    classes: int = 0
    probabilities: bool = False
    comparable: bool = True


@dataclass(frozen=True)
class SubsetSource:
    """How a subset did: its samples where they are told, the failed, means of losses and metrics by column."""

    samples: int | None = None
    failed: int = 0
    means: Mapping[str, float | None] = field(default_factory=dict)
    not_finite_samples: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class SpaceSource:
    """A latent space: the model's layer that it is, or whether a user's own is meant for analyses."""

    layer: str | None = None
    use_for_analysis: bool = False


@dataclass(frozen=True)
class BindingSource:
    """What identifies a data set: the file of its binding or its folder, and the overlay that it was read with."""

    kind: str = ""
    entry_file: str | None = None
    path: str | None = None
    digest: str | None = None
    overlay: str | None = None
    samples: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelSource:
    """What is known of a model: its file, or the copy that was kept of it, or why there is none. Empty: not told.

    `about` has everything that was noted, under its own names.
    """

    format: str = ""
    file: str = ""
    sha256: str = ""
    kept: str = ""
    kept_format: str = ""
    not_kept: str = ""
    class_name: str = ""
    parameters: int | None = None
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """What made an evaluation: the binding, the model, how they were wired, the options, counts and times.

    `predictions` has the name of each output's prediction, `ground_truths` what each prediction is compared with,
    `class_names` the names of classes by column. `document` is `source.json` as it stands.
    """

    document: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""
    state: str = ""
    key: str | None = None
    time: str | None = None
    epoch: int | None = None
    seconds: float = 0.0
    binding: BindingSource = BindingSource()
    model: ModelSource = ModelSource()
    subsets: Mapping[str, SubsetSource] = field(default_factory=dict)
    spaces: Mapping[str, SpaceSource] = field(default_factory=dict)
    predictions: Mapping[str, str] = field(default_factory=dict)
    ground_truths: Mapping[str, str] = field(default_factory=dict)
    pairs: Mapping[str, Pair] = field(default_factory=dict)
    class_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    losses: tuple[str, ...] = ()
    score_notes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        """Whether every sample is there."""
        return self.state == "finished"


def read_source(document: Mapping[str, Any]) -> Source:
    """Return what a document says.

    >>> source = read_source({"state": "finished", "subsets": {"training": {"samples": 3}}, "spaces": ["latent"]})
    >>> source.finished, source.subsets["training"].samples, source.spaces, source.problem
    (True, 3, {}, 'spaces is a list')
    """
    reader = _Reader(document)
    binding, model = reader.mapping("binding"), reader.mapping("model")
    predictions, truths = reader.mapping("wiring", "predictions"), reader.mapping("wiring", "ground_truths")
    spaces, subsets = reader.mappings("spaces"), reader.mappings("subsets")
    pairs, labels = reader.mappings("scores", "pairs"), reader.mappings("scores", "labels")
    scores = _mapping(document.get("scores"))
    return Source(
        document=document,
        state=_text_or_none(document.get("state")) or "",
        key=_text_or_none(document.get("key")),
        time=_text_or_none(document.get("time")),
        epoch=_whole_number(document.get("epoch")),
        seconds=_number_or_none(document.get("seconds")) or 0.0,
        binding=_binding(binding),
        model=_model(model),
        subsets={name: _subset(about) for name, about in subsets.items()},
        spaces={name: _space(about) for name, about in spaces.items()},
        predictions=reader.names_of_outputs(predictions),
        ground_truths={name: one for name, one in truths.items() if isinstance(one, str)},
        pairs={name: reader.pair(name, about) for name, about in pairs.items()},
        class_names={name: reader.names(name, about) for name, about in labels.items()},
        losses=_texts_of_list(scores.get("losses")),
        score_notes=_texts_of_list(scores.get("notes")),
        notes=_texts_of_list(document.get("notes")),
        options=_mapping(document.get("options")),
        versions={name: str(one) for name, one in _mapping(document.get("versions")).items()},
        problem=reader.problem,
    )


class _Reader:
    """Takes the parts of a document that analyses build on, and remembers what is wrong with them."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self.problem = ""

    def mapping(self, *path: str) -> dict[str, Any]:
        held: Any = self._document
        for key in path:
            held = held.get(key, {})
            if not isinstance(held, dict):
                self._note(f"{'.'.join(path)} is a {type(held).__name__}")
                return {}
        return dict(held)

    def mappings(self, *path: str) -> dict[str, dict[str, Any]]:
        held = self.mapping(*path)
        if not all(isinstance(one, dict) for one in held.values()):
            self._note(f"{'.'.join(path)} has something else than mappings")
        return {name: _mapping(one) for name, one in held.items()}

    def names_of_outputs(self, held: Mapping[str, Any]) -> dict[str, str]:
        for name, one in held.items():
            if not isinstance(one, str):
                self._note(f"wiring.predictions.{name} is a {type(one).__name__}")
        return {name: one for name, one in held.items() if isinstance(one, str)}

    def pair(self, name: str, about: Mapping[str, Any]) -> Pair:
        classes = about.get("classes") or 0
        if not isinstance(classes, int) or not 0 <= classes <= MOST_CLASSES:
            self._note(f"scores.pairs.{name}.classes is {str(classes)[:40]}")
            classes = 0
        return Pair(classes, bool(about.get("probabilities")), comparable=bool(about.get("comparable", True)))

    def names(self, name: str, about: Mapping[str, Any]) -> tuple[str, ...]:
        names = about.get("names") or []
        if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
            self._note(f"scores.labels.{name}.names is not a list of texts")
            return ()
        return tuple(names)

    def _note(self, problem: str) -> None:
        self.problem = self.problem or problem


def _subset(about: Mapping[str, Any]) -> SubsetSource:
    samples = _whole_number(about.get("samples"))
    return SubsetSource(
        samples=samples if samples is not None and 0 <= samples < _MOST_SAMPLES else None,
        failed=_whole_number(about.get("failed")) or 0,
        means={name: _number_or_none(one) for name, one in _mapping(about.get("means")).items()},
        not_finite_samples=_counts_by_name(about.get("not_finite_samples")),
    )


def _space(about: Mapping[str, Any]) -> SpaceSource:
    return SpaceSource(_text_or_none(about.get("layer")), bool(about.get("use_for_analysis")))


def _binding(about: Mapping[str, Any]) -> BindingSource:
    # Whatever stands for a file is told as text, so that it can be refused by its name.
    named = {name: None if (one := about.get(name)) is None else str(one) for name in ("entry_file", "path", "digest")}
    overlay = about.get("overlay")
    return BindingSource(
        kind=str(about.get("kind", "")),
        overlay=None if overlay is None else str(overlay),
        samples=_counts_by_name(about.get("samples")),
        **named,
    )


def _model(about: Mapping[str, Any]) -> ModelSource:
    names = ("format", "file", "sha256", "kept", "kept_format", "not_kept")
    return ModelSource(
        **{name: str(about.get(name) or "") for name in names},
        class_name=str(about.get("class") or ""),
        parameters=_whole_number(about.get("parameters")),
        about=about,
    )


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _counts_by_name(value: Any) -> dict[str, int]:
    return {name: count for name, one in _mapping(value).items() if (count := _whole_number(one)) is not None}


def _texts_of_list(value: Any) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _whole_number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number_or_none(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
