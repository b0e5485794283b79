"""Makes heat maps: chooses input, output and method, lets the method run, and puts what it found into values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cutaway.analysis.heat_maps.aims import Aim, aim_at
from cutaway.analysis.heat_maps.asking import Found, HeatMapQuestion, Options
from cutaway.analysis.heat_maps.baselines import Baseline, baseline_of
from cutaway.analysis.heat_maps.finishing import finished
from cutaway.analysis.heat_maps.memory import MemoryEstimate, estimate
from cutaway.analysis.heat_maps.methods import Method, method_for, method_named
from cutaway.analysis.heat_maps.place_layers import layer_named, place_layers
from cutaway.analysis.heat_maps.places import InputAxes, chosen_input, input_axes, named_arrays
from cutaway.analysis.heat_maps.values import HeatMap
from cutaway.arrays import Array, Int64Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError, GradientUnavailable
from cutaway.evaluation.progress import Listener
from cutaway.models.batches import Batch
from cutaway.models.model import Model

__all__ = ["estimate_memory", "heat_map", "heat_maps_per_class", "heat_maps_per_layer", "layers_with_places"]

_BATCH_SIZE = 64


def heat_map(
    model: Model,
    batch: Batch,
    *,
    method: str = "grad_cam",
    target: int | Sequence[int] | Int64Array | None = None,
    output: str | None = None,
    input: str | None = None,
    layer: str | None = None,
    loss: str | None = None,
    labels: Array | None = None,
    baseline: Baseline | None = None,
    steps: int = 50,
    window: int | tuple[int, ...] | None = None,
    stride: int | tuple[int, ...] | None = None,
    masks: int = 1000,
    seed: int = 0,
    batch_size: int = _BATCH_SIZE,
    memory_mb: float | None = None,
    progress: Listener | None = None,
) -> tuple[HeatMap, ...]:
    """Return where the model looked, one map for each sample of the batch.

    `method` is a name in `METHODS`. `target` is the class that is explained, one for all or one for each sample; None
    means the predicted one. With `loss` and `labels` a map shows instead which places raise the loss (positive) and
    which lower it (negative). `layer` is for methods that go by one; None means the last that keeps places apart.

    `baseline` is what a place holds when it is taken away: "zero", "mean", "blur", a number or an array. `steps` is
    for integrated gradients, `window` and `stride` for occlusion, `masks` and `seed` for RISE.

    The model gets at most `batch_size` rows at once, and fewer where those would take more than `memory_mb`, which
    is a quarter of the free memory unless it is given. A place whose map cannot be told, since the input or a
    gradient is not finite there, is NaN, and a note says so.
    """
    arrays = named_arrays(model, batch)
    axes = _axes(model, arrays, input)
    way = method_for(model, axes, method, layer)
    _check(way, layer=layer, baseline=baseline)
    aim = aim_at(model, axes.shape[0], output=output, target=target, loss=loss, labels=labels)
    if not axes.shape[0]:
        return ()
    memory = estimate(
        model, arrays, axes, gradients=way.gradients, packs=way.baseline, batch_size=batch_size, memory_mb=memory_mb
    )
    removed, words = baseline_of(arrays[axes.name], axes, baseline) if way.baseline else (None, "")
    options = Options(layer, steps, window, stride, masks, seed)
    asked = HeatMapQuestion(model, arrays, axes, aim, options, memory.rows, removed, progress)
    if layer is not None:
        layer_named(asked, layer)
    return finished(asked, method, _found(asked, way), words)


def heat_maps_per_class(
    model: Model,
    batch: Batch,
    classes: Sequence[int],
    *,
    method: str = "grad_cam",
    output: str | None = None,
    input: str | None = None,
    layer: str | None = None,
    baseline: Baseline | None = None,
    seed: int = 0,
    memory_mb: float | None = None,
    progress: Listener | None = None,
) -> tuple[tuple[HeatMap, ...], ...]:
    """Return for each sample a map of each of the classes, in the order of `classes`."""
    each = [
        heat_map(
            model, batch, method=method, target=one, output=output, input=input, layer=layer, baseline=baseline,
            seed=seed, memory_mb=memory_mb, progress=progress,
        )
        for one in classes
    ]  # fmt: skip
    return tuple(zip(*each, strict=True))


def heat_maps_per_layer(
    model: Model,
    batch: Batch,
    layers: Sequence[str] | None = None,
    *,
    method: str = "grad_cam",
    target: int | Sequence[int] | Int64Array | None = None,
    output: str | None = None,
    input: str | None = None,
    loss: str | None = None,
    labels: Array | None = None,
    memory_mb: float | None = None,
    progress: Listener | None = None,
) -> tuple[tuple[HeatMap, ...], ...]:
    """Return for each sample a map by each of the layers; by all that keep places apart where none are named."""
    if not method_named(method).by_layer:
        raise ConfigurationError(
            f"{method!r} does not go by a layer.", hint="Use 'grad_cam', 'layer_cam' or 'input_gradient'."
        )
    names = layers_with_places(model, batch, input=input) if layers is None else tuple(layers)
    each = [
        heat_map(
            model, batch, method=method, target=target, output=output, input=input, layer=one, loss=loss,
            labels=labels, memory_mb=memory_mb, progress=progress,
        )
        for one in names
    ]  # fmt: skip
    return tuple(zip(*each, strict=True))


def layers_with_places(
    model: Model,
    batch: Batch,
    *,
    input: str | None = None,
) -> tuple[str, ...]:
    """Return the names of the layers by which a map can be made, in the model's order; looks at the first sample."""
    arrays = named_arrays(model, batch)
    axes = _axes(model, arrays, input)
    aim = Aim(model.outputs[0].name, None)
    return tuple(one.name for one in place_layers(HeatMapQuestion(model, arrays, axes, aim, Options(), 1)))


def estimate_memory(
    model: Model,
    batch: Batch,
    *,
    method: str = "grad_cam",
    input: str | None = None,
    batch_size: int = _BATCH_SIZE,
    memory_mb: float | None = None,
) -> MemoryEstimate:
    """Return what `heat_map` would take, from shapes alone: nothing runs."""
    arrays = named_arrays(model, batch)
    axes = _axes(model, arrays, input)
    way = method_named(method)
    return estimate(
        model, arrays, axes, gradients=way.gradients, packs=way.baseline, batch_size=batch_size, memory_mb=memory_mb
    )


def _axes(model: Model, arrays: dict[str, Array], name: str | None) -> InputAxes:
    chosen = chosen_input(model, name)
    return input_axes(model, chosen, arrays[chosen])


def _check(way: Method, *, layer: str | None, baseline: Baseline | None) -> None:
    if layer is not None and not way.by_layer:
        raise ConfigurationError(f"`layer={layer!r}` has no meaning for {way.name!r}, which goes by the input itself.")
    if baseline is not None and not way.baseline:
        raise ConfigurationError(f"`baseline` has no meaning for {way.name!r}, which takes nothing away.")


def _found(asked: HeatMapQuestion, way: Method) -> Found:
    try:
        # NaN and infinities are told of in notes; a warning would say nothing more.
        with np.errstate(invalid="ignore", over="ignore"):
            return way.make(asked)
    except GradientUnavailable as error:
        reason = f"{error} These methods need no gradients: occlusion, rise."
        raise AnalysisUnavailable(f"{way.name} heat map", reason) from error
