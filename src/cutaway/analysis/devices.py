"""Where tensors of an analysis live: a GPU where there is one, unless the caller says otherwise."""

from __future__ import annotations

from cutaway.analysis.libraries import library
from cutaway.errors import ConfigurationError

__all__ = ["choose_device"]


def choose_device(asked: str | None = None) -> str:
    """Return `cuda` or `cpu`: what was asked for, or the GPU where torch sees one."""
    torch = library("torch", "This analysis")
    if asked is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    if asked.split(":")[0] not in ("cpu", "cuda"):
        raise ConfigurationError(f"`device` must be 'cpu', 'cuda' or 'cuda:<number>', but got {asked!r}.")
    if asked != "cpu" and not torch.cuda.is_available():
        raise ConfigurationError(
            f"`device={asked!r}` needs a GPU that torch can use.", hint="Leave it out for the CPU."
        )
    return asked
