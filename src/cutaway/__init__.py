"""Cutaway sees inside deep-learning models. Importing it loads no framework: `cutaway.attach` loads torch."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cutaway.frameworks.torch import attach

__version__ = "0.1.0"
__all__ = ["__version__", "attach"]


def __getattr__(name: str) -> object:
    if name == "attach":
        return import_module("cutaway.frameworks.torch").attach
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
