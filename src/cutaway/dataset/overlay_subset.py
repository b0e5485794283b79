"""`OverlaidSubset`: a subset whose labels come with the corrections of an overlay; everything else is as it was.

A sample that the overlay drops keeps its place and its id, since positions are ids for many: `sample_weights` says
that it counts for nothing. Content hashes are of inputs, which no overlay changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset.enums import DataStateType, Role
from cutaway.dataset.functions import Field
from cutaway.dataset.overlay_labels import class_of, label_with
from cutaway.dataset.subset import Scalar, Subset, sample_id
from cutaway.errors import OverlayError
from cutaway.run.overlay_use import DATA_SET, EVALUATION, HandedOut, note_read
from cutaway.run.overlays import LABEL, Correction, Overlay, environment_overlay

__all__ = ["Overlaid", "OverlaidSubset", "for_evaluation", "overlay_dataset"]


class Overlaid(NamedTuple):
    """Subsets that an overlay is applied to, and its digest."""

    subsets: Mapping[str, Subset]
    digest: str


class OverlaidSubset:
    """Another subset, with some labels of one ground truth corrected as they are handed out."""

    def __init__(
        self, inner: Subset, overlay: Overlay, truth: str, rows: Mapping[int, Correction], by: str = DATA_SET
    ) -> None:
        self.name = inner.name
        self.inner, self.overlay, self.truth, self.rows = inner, overlay, truth, rows
        self._seen: HandedOut = note_read(overlay, by, inner.name)

    def __reduce__(self) -> tuple[Any, ...]:
        # What was seen is this process's own.
        return type(self), (self.inner, self.overlay, self.truth, self.rows)

    def __len__(self) -> int:
        return len(self.inner)

    def __getattr__(self, name: str) -> Any:
        if name == "inner":
            # Not made yet: whoever copies this object asks before there is a subset to ask.
            raise AttributeError(name)
        return getattr(self.inner, name)

    def ids(self, start: int, stop: int) -> list[str]:
        """Return the samples' own ids."""
        return self.inner.ids(start, stop)

    def encode(self, role: Role, name: str, index: int) -> Array:
        """Return one input as it is, or one ground truth corrected."""
        values = self.inner.encode(role, name, index)
        if role is not Role.GROUND_TRUTH or name != self.truth or index not in self.rows:
            return values
        return self._corrected(values, self.rows[index])

    def encode_many(self, role: Role, name: str, start: int, stop: int) -> Array | None:
        """Return many at once, where the subset has them as arrays."""
        values = self.inner.encode_many(role, name, start, stop)
        if values is None or role is not Role.GROUND_TRUTH or name != self.truth:
            return values
        found = [index for index in range(start, start + len(values)) if index in self.rows]
        if not found:
            return values
        rows = {index: self._corrected(values[index - start], self.rows[index]) for index in found}
        # A copy, wide enough for the longest name: the array is the user's own.
        whole = np.array(values, dtype=np.result_type(values, *rows.values()) if values.dtype.kind in "US" else None)
        for index, row in rows.items():
            whole[index - start] = row
        return whole

    def metadata(self, index: int) -> dict[str, Scalar]:
        """Return every metadata value of one sample."""
        return self.inner.metadata(index)

    def response(self) -> Any:
        """Return what the binding's preprocess function made of this subset."""
        return self.inner.response()

    def _corrected(self, values: Any, one: Correction) -> Array:
        label = np.asarray(values)
        classes = self.overlay.classes
        there = class_of(label, classes)
        if there not in (one.old, one.new):
            raise OverlayError(
                str(self.overlay.path),
                f"it was made for other labels: {one.sample} was {one.old!r} and is "
                f"{there if there is not None else str(label)[:60]!r} now.",
                hint="Make it again from an evaluation of these labels: `cutaway fix RUN`.",
            )
        self._seen.mark([one.sample])
        if there == one.new:
            return label
        made = label_with(label, one.old, one.new, classes)
        kept = None if label.dtype.kind in "US" else label.dtype
        return np.asarray(made, kept).reshape(label.shape)


def overlay_dataset(subsets: Mapping[str, Subset], truths: Sequence[Field]) -> Overlaid | None:
    """Return the subsets of a data set with the overlay that CUTAWAY_OVERLAY names; None where it corrects none.

    Raises `OverlayError` where it cannot be read, or belongs to another data set.
    """
    overlay = environment_overlay()
    labelled = [name for name in subsets if truths and name != DataStateType.unlabeled]
    concerned = [name for name in labelled if overlay is not None and overlay.of(name, LABEL)]
    if overlay is None or not concerned:
        return None
    truth = _truth(overlay, [one.name for one in truths])
    found = dict(subsets)
    for name in concerned:
        found[name] = _overlaid(subsets[name], overlay, truth)
    return Overlaid(found, overlay.digest)


def for_evaluation(subsets: Mapping[str, Subset]) -> dict[str, Subset]:
    """Return the same subsets, for somebody who measures with their labels and trains nothing."""
    return {
        name: OverlaidSubset(one.inner, one.overlay, one.truth, one.rows, EVALUATION)
        if isinstance(one, OverlaidSubset)
        else one
        for name, one in subsets.items()
    }


def _overlaid(subset: Subset, overlay: Overlay, truth: str) -> Subset:
    if isinstance(subset, OverlaidSubset):
        if subset.overlay.digest == overlay.digest:
            return subset
        subset = subset.inner
    corrections = overlay.of(subset.name, LABEL)
    ids = [sample_id(subset.name, own) for own in subset.ids(0, len(subset))]
    rows = {place: corrections[one] for place, one in enumerate(ids) if one in corrections}
    if not rows:
        has = f"its ids begin with {ids[0]!r}" if ids else "it has no samples"
        raise OverlayError(
            str(overlay.path),
            f"it corrects {len(corrections):,} {subset.name} samples, such as {next(iter(corrections))!r}, and this "
            f"data set has none of them: {has}.",
            hint="Unset CUTAWAY_OVERLAY, or name the overlay of this data set.",
        )
    return OverlaidSubset(subset, overlay, truth, rows)


def _truth(overlay: Overlay, names: Sequence[str]) -> str:
    if overlay.truth in names:
        return overlay.truth
    if len(names) == 1:
        return names[0]
    raise OverlayError(
        str(overlay.path),
        f"it corrects the ground truth {overlay.truth!r}, and this data set has {', '.join(names)}.",
    )
