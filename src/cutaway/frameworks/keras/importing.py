"""Imports Keras for a model file: on TensorFlow where that is installed, else on torch, unless somebody chose already.

A process that has imported Keras keeps the backend it has; live models come with theirs.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from cutaway.errors import MissingExtraError
from cutaway.frameworks.tensorflow.settings import model_threads, prepare

__all__ = ["import_first", "import_keras"]

_CHOICE = "KERAS_BACKEND"
# The backends that gradients are written for.
SUPPORTED = ("tensorflow", "torch")


def import_first() -> None:
    """Import all that opening a file takes, in the process of a model, before that is limited."""
    import_keras("Loading a model of Keras")
    import_module("cutaway.frameworks.keras.model")


def import_keras(what: str) -> Any:
    """Return the `keras` package, imported now, with as many threads as the model may take.

    Raises `MissingExtraError` for `what` where Keras, or a framework for it to run on, is not installed.
    """
    if find_spec("keras") is None or find_spec("h5py") is None:
        raise MissingExtraError(what, "keras")
    if "keras" not in sys.modules and _CHOICE not in os.environ:
        installed = [name for name in SUPPORTED if find_spec(name) is not None]
        if not installed:
            raise MissingExtraError(f"{what} with Keras on TensorFlow or torch", "tensorflow")
        os.environ[_CHOICE] = installed[0]
    if os.environ.get(_CHOICE, "tensorflow") == "tensorflow" and find_spec("tensorflow") is not None:
        prepare()
    import keras

    threads = model_threads()
    if keras.backend.backend() == "torch" and threads is not None:
        import torch

        torch.set_num_threads(threads)
    return keras
