"""How long, how much memory and how large a file a model may take. Values; `confinement` puts the limits in place."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

from cutaway.errors import ConfigurationError

__all__ = ["Limits", "limited_environment"]

_THREAD_SETTINGS = (
    "CUTAWAY_MODEL_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a model from a file may take.

    `seconds` is for one call. `load_seconds` is for importing the framework, and again for opening the file.
    `memory_mb` is what the model's process may take beside what its framework took when it was imported, and the
    most that one answer may hold. `file_mb` is the largest model file, or SavedModel folder, that is opened at all.
    `threads` is how many threads the framework computes with; None leaves that to the framework.

    >>> Limits(seconds=5).memory_mb
    8192
    >>> Limits(seconds=0)
    Traceback (most recent call last):
    cutaway.errors.ConfigurationError: `seconds > 0` must hold, but got seconds=0.
    """

    seconds: float = 60.0
    load_seconds: float = 120.0
    memory_mb: int = 8192
    file_mb: int = 4096
    threads: int | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "load_seconds"):
            value = getattr(self, name)
            if not (_is_number(value) and math.isfinite(value) and value > 0):
                raise ConfigurationError(f"`{name} > 0` must hold, but got {name}={value!r}.")
        for name in ("memory_mb", "file_mb", "threads"):
            value = getattr(self, name)
            if name == "threads" and value is None:
                continue
            if not (_is_number(value) and isinstance(value, int) and value >= 1):
                raise ConfigurationError(f"`{name} >= 1` must hold for a whole number, but got {name}={value!r}.")


def limited_environment(limits: Limits, scratch: Path) -> dict[str, str]:
    """Return the environment of a child: no GPU, its own folder for scratch files, as many threads as it may have."""
    environment = {**os.environ, "TMPDIR": str(scratch)}
    environment.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # A model asks for the same large pieces at every call: given back and taken anew, they cost a quarter of its time.
    environment.setdefault("MALLOC_MMAP_THRESHOLD_", str(32 * 1024 * 1024))
    environment.setdefault("MALLOC_TRIM_THRESHOLD_", str(256 * 1024 * 1024))
    # Drivers of GPUs reserve more addresses than any limit of memory would leave them.
    environment["CUDA_VISIBLE_DEVICES"] = "-1"
    if limits.threads is not None:
        environment.update(dict.fromkeys(_THREAD_SETTINGS, str(limits.threads)))
    return environment


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
