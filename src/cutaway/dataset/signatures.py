"""What a bound function takes: its arguments, the one that is given the samples themselves, and where it is defined."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from cutaway.dataset.calling import defined_at, own_name, place_prefix
from cutaway.dataset.functions import AnyFunction, Function, Visualizer
from cutaway.dataset.responses import SamplePreprocessResponse
from cutaway.errors import BindingError

__all__ = ["check_heatmap", "check_takes", "declared"]

_RAW_INPUTS = "RawInputsForHeatmap"
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def declared(kind: type[AnyFunction], what: str, name: str, function: Callable[..., Any]) -> AnyFunction:
    """Return somebody's function with what it takes. Raises `BindingError` where that cannot be wired."""
    parameters = _parameters(what, name, function)
    hints = _hints(function)
    injected = [
        one.name
        for one in parameters
        if hints.get(one.name) is SamplePreprocessResponse or _spells(one.annotation, SamplePreprocessResponse.__name__)
    ]
    if len(injected) > 1:
        raise BindingError(
            f"{place_prefix(function)}{what} {name!r} has {len(injected)} parameters of type SamplePreprocessResponse "
            f"({', '.join(injected)}), but a call has one batch.",
            hint="Keep one.",
        )
    # An argument with a default is a setting of the function's own.
    wired = tuple(
        one.name
        for one in parameters
        if one.kind in _NAMED and one.name not in injected and one.default is inspect.Parameter.empty
    )
    return kind(name, function, wired, injected[0] if injected else None, place=defined_at(function))


def check_heatmap(visualizer: Visualizer, heatmap: Callable[..., Any]) -> None:
    """Raise unless the heat-map function takes what the visualizer takes, and at most the raw inputs beside it."""
    found = declared(Function, "heat-map visualizer", visualizer.name, heatmap)
    raw = [one.name for one in inspect.signature(heatmap).parameters.values() if _RAW_INPUTS in str(one.annotation)]
    if {*found.arguments} - {*raw} != {*visualizer.arguments}:
        raise BindingError(
            f"{found.place}: the heat-map function of visualizer {visualizer.name!r} takes "
            f"({', '.join(found.arguments)}), but the visualizer takes ({', '.join(visualizer.arguments)}).",
            hint="Give both the same arguments.",
        )


def check_takes(kind: str, name: str, function: Any, *wanted: str) -> None:
    """Raise `BindingError` unless the function can be called with as many positional arguments as are named."""
    if not callable(function):
        raise BindingError(f"{kind} {name!r} must be a function, but got {function!r}.")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        # Some functions of compiled modules do not tell what they take; the call will.
        return
    try:
        signature.bind(*wanted)
    except TypeError:
        hint = " Remove `self`: it is called as a plain function." if "self" in signature.parameters else ""
        call = f"{own_name(function)}({', '.join(wanted)})"
        raise BindingError(
            f"{place_prefix(function)}{kind} {name!r} takes {signature}, but is called as `{call}`.", hint=hint
        ) from None


def _parameters(kind: str, name: str, function: Any) -> list[inspect.Parameter]:
    if not callable(function):
        raise BindingError(f"{kind} {name!r} must be a function, but got {function!r}.")
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise BindingError(
            f"{kind} {name!r} does not tell what it takes ({error}).",
            hint="Wrap it in a function with named arguments.",
        ) from error


def _hints(function: Any) -> dict[str, Any]:
    try:
        return get_type_hints(function)
    except Exception:  # noqa: BLE001  # annotations are somebody's code; the names in them may stand for anything
        return {}


def _spells(annotation: Any, name: str) -> bool:
    return isinstance(annotation, str) and annotation.strip("\"' ").rpartition(".")[2] == name
