"""The table of methods: what each needs, and the function that makes its maps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cutaway.analysis.heat_maps.asking import Found, HeatMapQuestion
from cutaway.analysis.heat_maps.channel_sums import grad_cam, layer_cam
from cutaway.analysis.heat_maps.input_gradient import input_gradient
from cutaway.analysis.heat_maps.integrated_gradients import integrated_gradients
from cutaway.analysis.heat_maps.occlusion import occlusion
from cutaway.analysis.heat_maps.places import InputAxes
from cutaway.analysis.heat_maps.rise import rise
from cutaway.errors import AnalysisUnavailable, ConfigurationError, did_you_mean
from cutaway.models.model import Model

__all__ = ["METHODS", "Method", "method_for", "method_named"]


@dataclass(frozen=True)
class Method:
    """A way to make heat maps.

    `gradients` says that it needs them, `by_input` that it needs those by the input itself, `by_layer` that it can
    be asked for a layer, `baseline` that it takes places away. `words` says what its maps show.
    """

    name: str
    make: Callable[[HeatMapQuestion], Found]
    words: str
    gradients: bool = False
    by_input: bool = False
    by_layer: bool = False
    baseline: bool = False


METHODS: dict[str, Method] = {
    "grad_cam": Method(
        "grad_cam", grad_cam, "Channels of a layer, weighed by their mean gradient.", gradients=True, by_layer=True
    ),
    "layer_cam": Method(
        "layer_cam",
        layer_cam,
        "Channels of a layer, weighed by the gradient at each place.",
        gradients=True,
        by_layer=True,
    ),
    "integrated_gradients": Method(
        "integrated_gradients",
        integrated_gradients,
        "Gradients on the way from a baseline, which add up to the change of the score.",
        gradients=True,
        by_input=True,
        baseline=True,
    ),
    "input_gradient": Method(
        "input_gradient",
        input_gradient,
        "How much the score changes with each value.",
        gradients=True,
        by_layer=True,
    ),
    "occlusion": Method(
        "occlusion", occlusion, "The fall of the score when a sliding window is taken away.", baseline=True
    ),
    "rise": Method("rise", rise, "The score behind random masks, by what they leave.", baseline=True),
}


def method_named(name: str) -> Method:
    """Return a method of the table. Raises `ConfigurationError` with the nearest names where there is none."""
    if name not in METHODS:
        near = did_you_mean(name, METHODS)
        raise ConfigurationError(
            f"There is no heat-map method {name!r}.", hint=f"{near} There are {', '.join(METHODS)}."
        )
    return METHODS[name]


def method_for(model: Model, axes: InputAxes, name: str, layer: str | None = None) -> Method:
    """Return a method that works for a model and an input. Raises `AnalysisUnavailable` with those that would."""
    method = method_named(name)
    obstacle = model.description.differentiable
    if method.gradients and obstacle:
        raise AnalysisUnavailable(f"{name} heat map", f"{obstacle} These methods need no gradients: occlusion, rise.")
    # Of tokens there is a layer to go by, where they become numbers with gradients.
    by_tokens = axes.tokens or layer is not None
    if axes.whole and (method.by_input or (name == "input_gradient" and not by_tokens)):
        works = [one for one in METHODS if not METHODS[one].by_input and (axes.tokens or one != "input_gradient")]
        raise AnalysisUnavailable(
            f"{name} heat map",
            f"input {axes.name!r} takes whole numbers, which have no gradient.",
            hint=f"These methods work: {', '.join(works)}.",
        )
    return method
