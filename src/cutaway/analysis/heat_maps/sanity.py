"""Sanity figures of heat maps: whether what a map points at matters to the model more than what random maps point at.

Figures are for judging one map of one sample. They do not say that a map is right: places that matter together, and
baselines that are unlike any sample, fool them as they fool every measure that takes places away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.heat_maps.aims import Aim
from cutaway.analysis.heat_maps.baselines import Baseline, baseline_of
from cutaway.analysis.heat_maps.memory import estimate
from cutaway.analysis.heat_maps.places import input_axes, named_arrays
from cutaway.analysis.heat_maps.random_maps import random_maps
from cutaway.analysis.heat_maps.sanity_deletion import STEPS, DeletableSamples, Deletion, followed_in, orders
from cutaway.analysis.heat_maps.values import HeatMap, Sanity
from cutaway.arrays import Array, Float32Array, Float64Array
from cutaway.errors import ConfigurationError, CutawayError
from cutaway.evaluation.progress import Listener
from cutaway.models.batches import Batch
from cutaway.models.model import Model

__all__ = ["RANDOM_MAPS", "check_sanity", "deletion_figures", "sanity_words"]

RANDOM_MAPS = 20

# Figures that differ by no more are as good as each other.
AS_GOOD = 0.01

Remake = Callable[[Model], Sequence[HeatMap]]

_FLAT = "The map is the same everywhere, so it points at nothing."
_FEW = "It has {places} places, too few for {count} random maps to differ by much."
_UNKNOWN = "The model's score is not finite, so nothing can be compared."
_TOKENS = "Tokens are numbers of words, which have no magnitude."


def check_sanity(
    model: Model,
    batch: Batch,
    maps: Sequence[HeatMap],
    *,
    seed: int = 0,
    baseline: Baseline | None = None,
    labels: Array | None = None,
    remake: Remake | None = None,
    batch_size: int = 512,
    memory_mb: float | None = None,
    progress: Listener | None = None,
) -> tuple[Sanity, ...]:
    """Return the sanity figures of each map; `batch` is what the maps were made of, one map for each sample in order.

    `baseline` is what a place holds when it is taken away, as for `heat_map`; a map by a method that has one should be
    judged with the same. `labels` are those of a loss heat map. `remake(model)` makes the same maps on another model,
    of the same classes: it is called with this model on random weights, and its maps are judged by this model.

    A map of a class is good where the probability of that class falls early. A loss heat map is good where the loss
    falls, or rises late, when what raises it is taken away. Takes about 330 predictions a sample. Where values are
    equal, chance decides which goes first; a map that is the same everywhere never beats random ones.
    """
    if not _rows_of(model, batch, maps):
        return ()
    remade, told = _remade(model, maps, remake, seed)
    deletion, words = _deletion(
        model,
        batch,
        maps,
        rivals=RANDOM_MAPS + (remade is not None),
        baseline=baseline,
        labels=labels,
        batch_size=batch_size,
        memory_mb=memory_mb,
        progress=progress,
    )
    judged = [
        _judged(deletion, i, one, None if remade is None else remade[i], np.random.default_rng([seed, i]))
        for i, one in enumerate(maps)
    ]
    return tuple(replace(one, notes=(words, *told, *one.notes)) for one in judged)


def deletion_figures(
    model: Model,
    batch: Batch,
    maps: Sequence[HeatMap],
    *,
    seed: int = 0,
    baseline: Baseline | None = None,
    labels: Array | None = None,
    batch_size: int = 512,
    memory_mb: float | None = None,
    progress: Listener | None = None,
) -> Float64Array:
    """Return the deletion AUC of each map alone, as `Sanity.deletion` has it: for 15 predictions a sample.

    NaN for a map that is the same everywhere: it points at nothing.
    """
    if not _rows_of(model, batch, maps):
        return np.empty(0)
    deletion, _ = _deletion(
        model,
        batch,
        maps,
        rivals=0,
        baseline=baseline,
        labels=labels,
        batch_size=batch_size,
        memory_mb=memory_mb,
        progress=progress,
    )
    figures = np.full(len(maps), np.nan)
    for i, one in enumerate(maps):
        values, flat = _filled(one.values)
        if not flat:
            ranks = orders(values.reshape(1, -1), np.random.default_rng([seed, i]))
            figures[i] = deletion.areas(i, ranks)[0]
    return figures


def _rows_of(model: Model, batch: Batch, maps: Sequence[HeatMap]) -> int:
    """Return how many maps there are. Raises `ConfigurationError` where they are not of these samples."""
    arrays = named_arrays(model, batch)
    _check(maps, len(next(iter(arrays.values()))))
    return len(maps)


def _deletion(
    model: Model,
    batch: Batch,
    maps: Sequence[HeatMap],
    *,
    rivals: int,
    baseline: Baseline | None,
    labels: Array | None,
    batch_size: int,
    memory_mb: float | None,
    progress: Listener | None,
) -> tuple[Deletion, str]:
    """Return what takes places away from a batch, and in words what takes their place."""
    arrays = named_arrays(model, batch)
    axes = input_axes(model, maps[0].input, arrays[maps[0].input])
    if any(one.values.shape != axes.sizes for one in maps):
        raise ConfigurationError(f"The maps must have the places of input {axes.name!r}, {axes.sizes}.")
    removed, words = baseline_of(arrays[axes.name], axes, baseline)
    memory = estimate(model, arrays, axes, gradients=False, packs=True, batch_size=batch_size, memory_mb=memory_mb)
    given = DeletableSamples(arrays, axes, removed)
    followed = followed_in(model, given, _aim(model, maps, labels), memory.rows)
    # Beside random maps there is the input's own magnitude.
    each = 1 + rivals + (rivals > 0 and not axes.tokens)
    counter = Counter(progress, len(maps) * each * (STEPS - 1), "predictions", "sanity of heat maps")
    return Deletion(model, given, followed, memory.rows, counter), words


def sanity_words(sanity: Sanity) -> str:
    """Return what the figures say, in a few sentences: better, no different and worse than random are three.

    >>> sanity_words(Sanity(0.31, (0.52, 0.6), magnitude=0.35))
    "Beats all 2 random maps (0.31 against 0.52 at best). The input's own magnitude does 0.35."
    >>> sanity_words(Sanity(0.55, (0.52, 0.6)))
    'No different from random: 1 of 2 random maps do as well (0.55 against 0.56 on average).'
    >>> sanity_words(Sanity(0.7, (0.52, 0.6)))
    'Worse than all 2 random maps (0.70 against 0.60 at worst).'
    """
    if not np.isfinite(sanity.deletion):
        return f"Cannot be told from random. {_UNKNOWN}"
    if not sanity.random:
        return "Was not compared with random maps."
    own, count = sanity.deletion, len(sanity.random)
    if sanity.verdict == "better":
        verdict = f"Beats all {count} random maps ({own:.2f} against {min(sanity.random):.2f} at best)."
    elif _FLAT in sanity.notes:
        verdict = f"No different from random: {_FLAT[0].lower()}{_FLAT[1:]}"
    elif sanity.verdict == "worse":
        verdict = f"Worse than all {count} random maps ({own:.2f} against {max(sanity.random):.2f} at worst)."
    else:
        as_good = sum(one <= own for one in sanity.random)
        mean = float(np.mean(sanity.random))
        verdict = (
            f"No different from random: {as_good} of {count} random maps do as well ({own:.2f} against {mean:.2f} on "
            "average)."
        )
    return " ".join([verdict, *_beside(sanity)])


def _beside(sanity: Sanity) -> list[str]:
    """What the two other figures say: that the map may show the input rather than the model, where they are as good."""
    words = []
    if sanity.magnitude is not None:
        how = _beside_it(sanity.magnitude, sanity.deletion)
        words.append(f"The input's own magnitude does {sanity.magnitude:.2f}{f', which is {how}' if how else ''}.")
    if sanity.random_weights is not None:
        how = _beside_it(sanity.random_weights, sanity.deletion)
        reason = f", which is {how}: it may show the input rather than the model" if how else ""
        words.append(f"The same map on random weights does {sanity.random_weights:.2f}{reason}.")
    return words


def _beside_it(other: float, own: float) -> str:
    """How another figure is beside that of the map, of which less is better; empty where it is not as good."""
    if abs(other - own) <= AS_GOOD:
        return "as good"
    return "better" if other < own else ""


def _judged(
    deletion: Deletion, sample: int, one: HeatMap, remade: HeatMap | None, random: np.random.Generator
) -> Sanity:
    axes = deletion.given.axes
    values, flat = _filled(one.values)
    drawn = random_maps(values, RANDOM_MAPS, random, neighbours=not axes.features)
    rivals = [values[None], drawn]
    if not axes.tokens:
        rivals.append(_magnitude(deletion.given, sample)[None])
    if remade is not None:
        rivals.append(_filled(remade.values)[0][None])
    ranks = orders(np.concatenate(rivals).reshape(-1, values.size), random)
    found = deletion.areas(sample, ranks)
    others = found[1 : 1 + RANDOM_MAPS]
    return Sanity(
        # A map that points at nothing is as good as the random orders that stand for it, never by luck better.
        deletion=float(others.mean() if flat else found[0]),
        random=tuple(float(area) for area in others),
        magnitude=None if axes.tokens else float(found[1 + RANDOM_MAPS]),
        random_weights=None if remade is None else float(found[-1]),
        notes=_told(found[0], values.size, flat=flat, tokens=axes.tokens),
    )


def _told(deletion: float, places: int, *, flat: bool, tokens: bool) -> tuple[str, ...]:
    said = (
        (flat, _FLAT),
        (not np.isfinite(deletion), _UNKNOWN),
        (places < STEPS // 2, _FEW.format(places=places, count=RANDOM_MAPS)),
        (tokens, _TOKENS),
    )
    return tuple(note for holds, note in said if holds)


def _filled(values: Float32Array) -> tuple[Float32Array, bool]:
    """Return a map whose unknown places come last, and whether it is the same everywhere."""
    finite = np.isfinite(values)
    if not finite.any():
        return np.zeros_like(values), True
    lowest = values[finite].min()
    filled = np.where(finite, values, lowest).astype(np.float32)
    return filled, bool(filled.max() == lowest)


def _magnitude(given: DeletableSamples, sample: int) -> Float32Array:
    values = np.abs(given.arrays[given.axes.name][sample].astype(np.float32))
    if given.axes.channel is not None:
        values = values.sum(axis=given.axes.channel - 1)
    return _filled(values)[0]


def _aim(model: Model, maps: Sequence[HeatMap], labels: Array | None) -> Aim:
    one = maps[0]
    axis = next(spec.channel_axis for spec in model.outputs if spec.name == one.output)
    if one.loss is not None:
        if labels is None or len(labels) != len(maps):
            given = "none" if labels is None else str(len(labels))
            raise ConfigurationError(
                f"Maps of {one.loss} need `labels`, one row for each of {len(maps)}, but got {given}."
            )
        return Aim(one.output, axis, None, one.loss, np.asarray(labels))
    targets = None if one.target is None else np.array([each.target for each in maps], np.int64)
    return Aim(one.output, axis, targets)


def _check(maps: Sequence[HeatMap], rows: int) -> None:
    if len(maps) != rows:
        raise ConfigurationError(f"There must be one map for each sample, but got {len(maps)} for {rows}.")
    kinds = {(one.input, one.output, one.loss, one.target is None) for one in maps}
    if len(kinds) > 1:
        raise ConfigurationError(
            "The maps must be of one input and one output, all of a class or all of a loss, but they are of "
            f"{len(kinds)} kinds.",
            hint="Check each kind by itself.",
        )


def _remade(
    model: Model, maps: Sequence[HeatMap], remake: Remake | None, seed: int
) -> tuple[Sequence[HeatMap] | None, tuple[str, ...]]:
    if remake is None:
        return None, ()
    try:
        random = model.with_random_weights(seed)
        try:
            made = remake(random)
        finally:
            random.close()
    except CutawayError as error:
        # The other figures stand without this one.
        return None, (f"The map on random weights cannot be had: {error}",)
    if [one.values.shape for one in made] != [one.values.shape for one in maps]:
        raise ConfigurationError("`remake` must return one map for each sample, of the same shape as the maps.")
    return made, ()
