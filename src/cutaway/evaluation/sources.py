"""What an evaluation is made from, as one key: the same key means that an unfinished one can be taken up again."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import numpy as np

from cutaway import __version__
from cutaway.dataset import Dataset
from cutaway.dataset.content import content_hash
from cutaway.dataset.enums import Role
from cutaway.errors import BindingError
from cutaway.evaluation.predicting import Predictor
from cutaway.evaluation.subject import Subject

__all__ = ["binding_of", "key_of", "model_key", "versions"]

_PACKAGES = ("numpy", "torch", "keras", "tensorflow", "tensorflow_cpu", "onnxruntime")


def binding_of(dataset: Dataset, subsets: Mapping[str, int]) -> dict[str, Any]:
    """Return what identifies a data set: its entry file's digest, or the content of its first and last samples."""
    about: dict[str, Any] = {name: value for name, value in dataset.source.items() if _is_plain(value)}
    about["samples"] = dict(subsets)
    about["inputs"] = [one.name for one in dataset.inputs]
    about["ground_truths"] = [one.name for one in dataset.ground_truths]
    if "digest" not in about:
        about["content"] = {name: _ends(dataset, name, length) for name, length in subsets.items()}
    return about


def model_key(subject: Subject, predictor: Predictor, dataset: Dataset) -> str:
    """Return what identifies a model: the digest of its file, or what it answers to the first sample."""
    if "sha256" in subject.about:
        return str(subject.about["sha256"])
    digest = hashlib.sha256(repr(subject.model).encode())
    for name, subset in dataset.subsets.items():
        if not len(subset):
            continue
        try:
            first = {one.name: subset.encode(Role.INPUT, one.name, 0)[np.newaxis] for one in dataset.inputs}
        except BindingError:
            continue
        for output, values in predictor.predict(first).outputs.items():
            digest.update(f"{name}{output}".encode())
            digest.update(np.ascontiguousarray(values).tobytes())
        break
    return digest.hexdigest()


def key_of(binding: Mapping[str, Any], model: str, options: Mapping[str, Any]) -> str:
    """Return the key of an evaluation."""
    whole = json.dumps([binding, model, options], sort_keys=True, default=str)
    return hashlib.sha256(whole.encode()).hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of what takes part, as far as it is installed."""
    found = {"cutaway": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _ends(dataset: Dataset, name: str, length: int) -> list[str | None]:
    return [_content(dataset, name, index) for index in sorted({0, length - 1}) if index >= 0]


def _content(dataset: Dataset, name: str, index: int) -> str | None:
    subset = dataset.subsets[name]
    try:
        return content_hash({one.name: subset.encode(Role.INPUT, one.name, index) for one in dataset.inputs})
    except BindingError:
        return None


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float | bool | list | dict | type(None))
