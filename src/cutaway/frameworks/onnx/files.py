"""The door to `.onnx` files: everything of a file is checked before ONNX Runtime sees any of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cutaway.errors import MissingExtraError
from cutaway.models.backend import Backend

__all__ = ["open_onnx"]


def open_onnx(path: Path, *, trust: bool, custom_layers: Mapping[str, type]) -> Backend:  # noqa: ARG001 - a format's call
    """Open an ONNX file. A trusted one may reach its weights through links and make large constants.

    ONNX files carry no classes, so `custom_layers` changes nothing.
    """
    try:
        from cutaway.frameworks.onnx.checking import read_checked
        from cutaway.frameworks.onnx.session import OnnxBackend
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("onnx", "onnxruntime", "google"):
            raise MissingExtraError("Opening an ONNX file", "onnx") from error
        raise
    path = Path(path)
    return OnnxBackend(read_checked(path, trust=trust), path)
