"""Checks of a visualizer as it is bound, and of what it returned. Draws nothing."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from cutaway.dataset.calling import defined_at
from cutaway.dataset.enums import LeapDataType
from cutaway.dataset.signatures import Signature, signature_of
from cutaway.errors import BindingError, did_you_mean

__all__ = ["check_heatmap", "check_visualizer_type", "wrong_visual"]

_RAW_INPUTS = "RawInputsForHeatmap"


def check_visualizer_type(name: str, given: Any) -> LeapDataType:
    """Return the type that a visualizer was declared with."""
    if given in list(LeapDataType):
        return LeapDataType(given)
    known = [f"LeapDataType.{one.name}" for one in LeapDataType]
    raise BindingError(
        f"`visualizer_type` of visualizer {name!r} is {given!r}.",
        hint=f"{did_you_mean(str(given), known)} There are {', '.join(known)}.",
    )


def check_heatmap(name: str, visualizer: Signature, heatmap: Callable[..., Any]) -> None:
    """Raise unless the heat-map function takes what the visualizer takes, and at most the raw inputs beside it."""
    found = signature_of("heat-map visualizer", name, heatmap)
    raw = [one.name for one in inspect.signature(heatmap).parameters.values() if _RAW_INPUTS in str(one.annotation)]
    if {*found.arguments} - {*raw} != {*visualizer.arguments}:
        place = defined_at(heatmap)
        raise BindingError(
            f"{place}: the heat-map function of visualizer {name!r} takes ({', '.join(found.arguments)}), but the "
            f"visualizer takes ({', '.join(visualizer.arguments)}).",
            hint="Give both the same arguments.",
        )


def wrong_visual(visualizer_type: LeapDataType, result: Any) -> str:
    """Return why a result is not what was declared; empty where it is."""
    wanted = f"Leap{visualizer_type.value}"
    if any(one.__name__ == wanted for one in type(result).__mro__):
        return ""
    return (
        f"it returned {type(result).__name__}, but its type is LeapDataType.{visualizer_type.name}: return a {wanted}."
    )
