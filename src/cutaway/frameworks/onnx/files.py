"""The door to `.onnx` files: everything of a file is checked before ONNX Runtime sees any of it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from cutaway.errors import MissingExtraError
from cutaway.models.backend import Backend

__all__ = ["import_first", "open_onnx"]


def import_first() -> None:
    """Import all that opening a file takes, in the process of a model, before that is limited."""
    try:
        import_module("cutaway.frameworks.onnx.session")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("onnx", "onnxruntime", "google"):
            raise MissingExtraError("Opening an ONNX file", "onnx") from error
        raise


def open_onnx(path: Path, *, trust: bool, custom_layers: Mapping[str, type]) -> Backend:  # noqa: ARG001 - a format's call
    """Open an ONNX file. A trusted one may reach its weights through links and make large constants.

    ONNX files carry no classes, so `custom_layers` changes nothing.
    """
    import_first()
    from cutaway.frameworks.onnx.checking import read_checked
    from cutaway.frameworks.onnx.session import OnnxBackend

    path = Path(path)
    return OnnxBackend(read_checked(path, trust=trust), path)
