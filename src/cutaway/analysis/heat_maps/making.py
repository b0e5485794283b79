"""Makes heat maps: chooses input, output and method, lets the method run, and puts what it found into values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cutaway.analysis.heat_maps.aims import Aim, aim_at
from cutaway.analysis.heat_maps.asking import Found, HeatMapQuestion, Options
from cutaway.analysis.heat_maps.baselines import Baseline, baseline_of
from cutaway.analysis.heat_maps.memory import estimate
from cutaway.analysis.heat_maps.methods import Method, method_for
from cutaway.analysis.heat_maps.place_layers import layer_named, place_layers
from cutaway.analysis.heat_maps.places import InputAxes, chosen_input, input_axes, named_arrays
from cutaway.analysis.heat_maps.values import HeatMap
from cutaway.arrays import Array, BoolArray, Float32Array, Int64Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError, GradientUnavailable
from cutaway.evaluation.progress import Listener
from cutaway.models.batches import Batch
from cutaway.models.model import Model

__all__ = ["heat_map", "layers_with_places"]


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
    batch_size: int = 64,
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
    return _finished(asked, method, _found(asked, way), words)


def layers_with_places(model: Model, batch: Batch) -> tuple[str, ...]:
    """Return the names of the layers by which a map can be made, in the model's order; looks at the first sample."""
    arrays = named_arrays(model, batch)
    axes = _axes(model, arrays, None)
    aim = Aim(model.outputs[0].name, None)
    return tuple(one.name for one in place_layers(HeatMapQuestion(model, arrays, axes, aim, Options(), 1)))


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


def _finished(asked: HeatMapQuestion, method: str, found: Found, baseline: str) -> tuple[HeatMap, ...]:
    """Return one `HeatMap` for each sample; `baseline` says in words what places were replaced by."""
    notes = tuple(note for note in (baseline, *found.notes) if note)
    values, told = _marked(asked, found)
    return tuple(
        HeatMap(
            values=values[i],
            method=method,
            input=asked.axes.name,
            output=asked.aim.output,
            target=None if found.targets is None else int(found.targets[i]),
            score=float(found.scores[i]),
            layer=found.layer,
            loss=asked.aim.loss,
            signed=found.signed,
            attribution=None if found.attributions is None else found.attributions[i],
            completeness=_complete(found, i),
            notes=(*notes, *_unchanged(found, i), *told[i]),
        )
        for i in range(asked.count)
    )


def _complete(found: Found, i: int) -> float | None:
    if found.completeness is None or np.isnan(found.completeness[i]):
        return None
    return float(found.completeness[i])


def _unchanged(found: Found, i: int) -> tuple[str, ...]:
    if found.completeness is None or _complete(found, i) is not None or not np.isfinite(found.scores[i]):
        return ()
    return ("The score of the baseline is that of the sample, so completeness cannot be told.",)


def _marked(asked: HeatMapQuestion, found: Found) -> tuple[Float32Array, list[tuple[str, ...]]]:
    """Return maps that are NaN where the input is not finite, and for each sample what is not finite, in words."""
    maps = np.asarray(found.maps, np.float32)
    unknown = ~np.isfinite(asked.values)
    if not unknown.any() and np.isfinite(maps).all() and np.isfinite(found.scores).all():
        return maps, [()] * asked.count
    over = unknown if asked.axes.channel is None else np.asarray(unknown.any(axis=asked.axes.channel))
    maps = np.where(over, np.float32(np.nan), maps)
    return maps, [_told(maps[i], over[i], float(found.scores[i])) for i in range(asked.count)]


def _told(values: Float32Array, over: BoolArray, score: float) -> tuple[str, ...]:
    notes = []
    if over.any():
        notes.append(f"The input is not finite at {int(over.sum())} of {over.size} places.")
    if not np.isfinite(score):
        notes.append(f"The score is {score}, so nothing explains it.")
    missing = int((~np.isfinite(values)).sum())
    if missing:
        notes.append(f"The map is not finite at {missing} of {values.size} places.")
    return tuple(notes)
