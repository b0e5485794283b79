"""Adds a latent space of chosen layers to an evaluation: one more pass of its model over its samples, resumable."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from cutaway.arrays import Float32Array
from cutaway.errors import BindingError, ConfigurationError, LayerUnavailable
from cutaway.evaluation.encoding import Encoding, Turn, begin_batch, encode_batch
from cutaway.evaluation.prepared import Prepared
from cutaway.evaluation.progress import Listener, Progress
from cutaway.evaluation.reopening import Reopened
from cutaway.evaluation.wiring import first_sample, shapes_of
from cutaway.run import RunState
from cutaway.run.evaluations import added_spaces, space_file_name
from cutaway.run.layer_spaces import SpaceFile, begin_space, finish_space, has_space
from cutaway.run.leases import next_lease

__all__ = ["add_layer_space", "space_name"]

# How often what is done is made to survive a kill.
KEEP_SECONDS = 2.0
BATCH = 64
# Layers that are joined count alike: each is divided by its spread over so many samples.
SCALE_ROWS = 1024


def space_name(layers: Sequence[str]) -> str:
    """Return the name of the space that some layers make.

    >>> space_name(["conv1", "fc"])
    'conv1+fc'
    """
    return "+".join(layers)


def add_layer_space(reopened: Reopened, layers: Sequence[str], *, progress: Listener | None = None) -> str:
    """Add the space of one layer, or of several pooled and joined, and return its name; at once where it is there.

    The vector of a sample is the mean of each layer over everything but its channels. Of several layers each is
    divided by its own spread first, so that none drowns the others.
    """
    evaluation = reopened.evaluation
    chosen = list(dict.fromkeys(layers))
    known = [layer.name for layer in reopened.model.layers]
    for name in chosen:
        if name not in known:
            raise LayerUnavailable(name, known)
    space = space_name(chosen)
    if has_space(evaluation, space):
        return space
    _refuse_same_file(space, [*evaluation.spaces, *added_spaces(evaluation)])
    # The one process that adds latent spaces to a run.
    lease = next_lease(evaluation.run.storage, str(evaluation.run.path), "analyze")
    state = RunState.FAILED
    try:
        _Pass(reopened, chosen, space, progress, lease.beat).carry_out()
        state = RunState.FINISHED
    finally:
        lease.release(state)
    return space


class _Pass:
    """The pass over every sample, of one space."""

    def __init__(
        self,
        reopened: Reopened,
        layers: Sequence[str],
        space: str,
        progress: Listener | None,
        beat: Callable[[], None],
    ) -> None:
        self._reopened, self._layers, self._space, self._progress = reopened, layers, space, progress
        self._beat = beat
        self._encoding = Encoding(reopened.dataset, shapes_of(first_sample(reopened.dataset)))
        self._lengths = {name: len(reopened.dataset.subsets[name]) for name in reopened.evaluation.subsets}
        self._clock = time.monotonic

    def carry_out(self) -> None:
        """Fill every subset and say that the space is whole."""
        evaluation = self._reopened.evaluation
        scales = self._measured() if len(self._layers) > 1 else [1.0]
        held = begin_space(evaluation, self._space, {"layers": list(self._layers), "scales": scales})
        scales = [float(one) for one in held["scales"]]
        width = sum(part.shape[1] for part in self._pooled(self._first()))
        files = {
            name: SpaceFile(evaluation, self._space, name, (count, width)) for name, count in self._lengths.items()
        }
        stage = f"latent space {self._space}"
        tell = self._teller(sum(file.done for file in files.values()), sum(self._lengths.values()), stage)
        for subset, file in files.items():
            self._fill(subset, file, scales, width, tell)
        finish_space(evaluation, self._space)

    def _fill(
        self, subset: str, file: SpaceFile, scales: Sequence[float], width: int, tell: Callable[[int], None]
    ) -> None:
        kept = self._clock()
        for start in range(file.done, self._lengths[subset], BATCH):
            batch = self._encoded(subset, start, min(start + BATCH, self._lengths[subset]))
            file.write(start, self._vectors(batch, scales, width))
            tell(len(batch))
            if self._clock() - kept > KEEP_SECONDS:
                file.keep()
                # Whoever looks from another machine sees that this one lives.
                self._beat()
                kept = self._clock()
        file.finish()

    def _vectors(self, batch: Prepared, scales: Sequence[float], width: int) -> Float32Array:
        """Return the vectors of a batch, NaN for samples that could not be encoded."""
        vectors = np.full((len(batch), width), np.nan, np.float32)
        if batch.encoded.any():
            parts = self._pooled(batch)
            vectors[batch.positions] = np.concatenate(
                [part / scale for part, scale in zip(parts, scales, strict=True)], axis=1
            )
        return vectors

    def _pooled(self, batch: Prepared) -> list[Float32Array]:
        model = self._reopened.model
        found = model.activations(self._reopened.batch_of(dict(batch.inputs)), self._layers)
        return [model.vectors(name, found[name]) for name in self._layers]

    def _measured(self) -> list[float]:
        """Return the spread of each layer's vectors over the first samples; 1 where there is none."""
        subset, length = next(iter(self._lengths.items()))
        seen: list[list[Float32Array]] = [[] for _ in self._layers]
        tell = self._teller(0, min(length, SCALE_ROWS), "spread of the layers")
        for start in range(0, min(length, SCALE_ROWS), BATCH):
            batch = self._encoded(subset, start, min(start + BATCH, length))
            tell(len(batch))
            for held, part in zip(seen, self._pooled(batch) if batch.encoded.any() else (), strict=False):
                held.append(part)
        spreads = [_spread(parts) for parts in seen]
        return [spread if np.isfinite(spread) and spread > 0 else 1.0 for spread in spreads]

    def _first(self) -> Prepared:
        """Return the first batch of which something can be encoded."""
        error: str | None = None
        for subset, length in self._lengths.items():
            for start in range(0, length, BATCH):
                batch = self._encoded(subset, start, min(start + BATCH, length))
                if batch.encoded.any():
                    return batch
                error = error or batch.errors[0]
        raise BindingError(f"No sample can be encoded: {error}")

    def _encoded(self, subset: str, start: int, stop: int) -> Prepared:
        underway = begin_batch(self._reopened.dataset.subsets[subset], start, stop)
        return encode_batch(self._encoding, underway, Turn(underway))

    def _teller(self, done: int, total: int, stage: str) -> Callable[[int], None]:
        began, before = self._clock(), done
        count = [done]

        def tell(more: int) -> None:
            count[0] += more
            if self._progress is not None:
                fresh = count[0] - before
                self._progress(Progress(count[0], total, "samples", self._clock() - began, fresh, stage=stage))

        return tell


def _spread(parts: Sequence[Float32Array]) -> float:
    whole = np.concatenate(parts) if parts else np.zeros((0, 1), np.float32)
    finite = whole[np.isfinite(whole).all(axis=1)]
    return float(np.sqrt(finite.var(axis=0, dtype=np.float64).sum())) if len(finite) else 1.0


def _refuse_same_file(space: str, others: Sequence[str]) -> None:
    for other in others:
        if other != space and space_file_name(other) == space_file_name(space):
            raise ConfigurationError(
                f"The spaces {space!r} and {other!r} would be one file.", hint="Choose other layers."
            )
