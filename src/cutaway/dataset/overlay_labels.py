"""`corrected` and `sample_weights`: what a loop with its own arrays asks, to train with the corrections of an overlay.

Both read the overlay that CUTAWAY_OVERLAY names. Where it names none they change nothing; where it names one that
cannot be used they raise: wrong labels in silence are worse than a training that does not begin.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from cutaway.arrays import Array, Float32Array
from cutaway.dataset.arrays import known_subset
from cutaway.dataset.enums import SUBSETS
from cutaway.dataset.subset import sample_id
from cutaway.errors import ConfigurationError, OverlayError
from cutaway.run.overlay_use import CORRECTED, WEIGHTS, note_read
from cutaway.run.overlays import DROP, LABEL, WEIGHT, Correction, Overlay, environment_overlay

__all__ = ["check_labels", "class_of", "corrected", "found_samples", "label_with", "sample_weights"]

log = logging.getLogger("cutaway.dataset")

Labels = TypeVar("Labels")


def corrected(labels: Labels, subset: str = "training", ids: Sequence[object] | None = None) -> Labels:
    """Return the labels of a subset with the corrections of the overlay that CUTAWAY_OVERLAY names.

    `labels` are class numbers, names, or one-hot rows, in a numpy array, a torch tensor, a pandas Series, a list or a
    tuple; they come back as the same kind, as a copy. `ids` are the samples' ids where those are not the positions
    from 0, as `hook.samples` takes them. Without an overlay the labels themselves are returned.

    Labels that are neither what the overlay corrects nor already corrected raise `OverlayError`: it was made for
    other labels. So applying it twice is the same as once.

    >>> corrected([3, 5, 8])
    [3, 5, 8]
    """
    known_subset(subset)
    overlay = environment_overlay()
    if overlay is None:
        return labels
    seen = note_read(overlay, CORRECTED, subset)
    corrections = overlay.of(subset, LABEL)
    places = found_samples(overlay, corrections, _full_ids(subset, ids, _length(labels)))
    get, put, result = _label_access(labels, overlay)
    check_labels(overlay, {sample: get(place) for sample, place in places.items()}, corrections)
    for sample, place in places.items():
        one = corrections[sample]
        if class_of(get(place), overlay.classes) == one.old:
            put(place, label_with(get(place), one.old, one.new, overlay.classes))
    seen.mark(places)
    return result()  # type: ignore[no-any-return]  # the kind of labels that was given


def sample_weights(samples: int | Sequence[object], subset: str = "training") -> Float32Array:
    """Return how much each sample counts in training: 1, 0 where the overlay drops it, or the weight that it says.

    `samples` are the ids of a subset, or how many it has. Multiply each sample's loss with its weight, or leave out
    those of weight 0; ids and positions stay what they are.

    >>> sample_weights(3)
    array([1., 1., 1.], dtype=float32)
    """
    known_subset(subset)
    ids, count = (None, samples) if isinstance(samples, int) else (samples, len(samples))
    if count < 0:
        raise ConfigurationError(f"`samples >= 0` must hold, but got samples={count}.")
    weights = np.ones(count, np.float32)
    overlay = environment_overlay()
    if overlay is None:
        return weights
    seen = note_read(overlay, WEIGHTS, subset)
    corrections = overlay.of(subset, WEIGHT, DROP)
    places = found_samples(overlay, corrections, _full_ids(subset, ids, count))
    for sample, place in places.items():
        one = corrections[sample]
        weights[place] = 0.0 if one.field == DROP else float(one.new)
    seen.mark(places)
    return weights


def found_samples(overlay: Overlay, corrections: Mapping[str, Correction], ids: Sequence[str | None]) -> dict[str, int]:
    """Return where the corrected samples stand. Raises where none of them is there: the ids are of something else."""
    found = {one: place for place, one in enumerate(ids) if one is not None and one in corrections}
    if corrections and not found:
        example = next(iter(corrections))
        has = f"they begin with {ids[0]!r}" if ids else "there are none"
        raise OverlayError(
            str(overlay.path),
            f"it corrects {len(corrections):,} samples, such as {example!r}, and none of them is among the "
            f"{len(ids):,} ids here: {has}.",
            hint="Give the ids of the samples with `ids=`, and their `subset=`.",
        )
    if len(found) < len(corrections):
        log.warning(
            "The overlay %r corrects %d samples of which %d are not here.",
            overlay.name,
            len(corrections),
            len(corrections) - len(found),
        )
    return found


def check_labels(overlay: Overlay, there: Mapping[str, Any], corrections: Mapping[str, Correction]) -> None:
    """Raise where labels are neither what the overlay corrects nor already corrected, with how many there are."""
    wrong = [
        sample
        for sample, label in there.items()
        if class_of(label, overlay.classes) not in (corrections[sample].old, corrections[sample].new)
    ]
    if not wrong:
        return
    first = corrections[wrong[0]]
    raise OverlayError(
        str(overlay.path),
        f"it was made for other labels: {len(wrong):,} of the {len(there):,} labels that it corrects are not what they "
        "were.",
        hint=(
            f"{first.sample} was {first.old!r} and is {_label_in_words(there[wrong[0]], overlay.classes)} now. Make it "
            "again from an evaluation of these labels: `cutaway fix RUN`."
        ),
    )


def _full_ids(subset: str, ids: Sequence[object] | None, count: int) -> list[str | None]:
    """Return ids as the whole product knows them; one that already begins with a subset is taken as it is."""
    if ids is None:
        return [sample_id(subset, str(place)) for place in range(count)]
    if len(ids) != count:
        raise ConfigurationError(f"`ids` must name every sample, but got {len(ids)} ids for {count} labels.")
    return [_full_id(subset, one) for one in ids]


def _full_id(subset: str, one: object) -> str | None:
    if one is None:
        return None
    bare = one.item() if getattr(one, "shape", None) == () and hasattr(one, "item") else one
    text = bare.decode(errors="replace") if isinstance(bare, bytes) else str(bare)
    return text if text.split("/", 1)[0] in SUBSETS and "/" in text else sample_id(subset, text)


def _length(labels: Any) -> int:
    try:
        return len(labels)
    except TypeError:
        raise ConfigurationError(
            f"`labels` must be the labels of a whole subset, but got one {type(labels).__name__}."
        ) from None


def _label_access(
    labels: Any, overlay: Overlay
) -> tuple[Callable[[int], Any], Callable[[int, Any], None], Callable[[], Any]]:
    """Return how to read one label, how to write it into a copy, and the copy, for each kind of labels."""
    if isinstance(labels, list | tuple):
        items = list(labels)
        return items.__getitem__, partial(_set_item, items), lambda: tuple(items) if type(labels) is tuple else items
    if hasattr(labels, "iloc"):
        series = labels.copy()
        return series.iloc.__getitem__, series.iloc.__setitem__, lambda: series
    if isinstance(labels, np.ndarray):
        array = _roomy(labels, overlay.classes)
    elif hasattr(labels, "clone") and hasattr(labels, "detach"):
        array = labels.detach().clone()
    else:
        raise ConfigurationError(
            "`labels` must be a numpy array, a torch tensor, a pandas Series or a list, but got "
            f"{type(labels).__name__}.",
            hint="Make an array of it first: `numpy.asarray(labels)`.",
        )
    if array.ndim not in (1, 2):
        raise ConfigurationError(f"`labels` must have one label a sample, but got the shape {tuple(array.shape)}.")
    return array.__getitem__, partial(_set_row, array), lambda: array


def _set_item(items: list[Any], place: int, new: Any) -> None:
    old = items[place]
    items[place] = _like(old, new) if hasattr(old, "reshape") and not isinstance(old, np.generic) else type(old)(new)


def _set_row(array: Any, place: int, new: Any) -> None:
    array[place] = _like(array[place], new) if isinstance(new, list) else new


def _like(row: Any, new: Any) -> Any:
    """Return a label as a row of numpy or torch, of the dtype and shape of another."""
    made = np.asarray(new, row.dtype) if isinstance(row, np.ndarray) else row.new_tensor(new)
    return made.reshape(row.shape)


def _roomy(labels: Array, classes: Sequence[str]) -> Array:
    """Return a copy; one of text is as wide as the longest class, since numpy would cut a longer name short."""
    if labels.dtype.kind not in "US":
        return labels.copy()
    longest = max((len(one.encode()) for one in classes), default=1)
    return labels.astype(np.promote_types(labels.dtype, f"{labels.dtype.kind}{longest}"))


def _label_in_words(label: Any, classes: Sequence[str]) -> str:
    name = class_of(label, classes)
    held = str(label).replace("\n", " ")
    return repr(name) if name is not None else f"{held[:60]}, which is none of the {len(classes)} classes"


def class_of(label: Any, classes: Sequence[str]) -> str | None:
    """Return the class that a label means; None where it means none of them.

    A row of as many numbers as there are classes means its largest, if that is the only one.

    >>> class_of(1, ["cat", "dog"]), class_of("dog", ["cat", "dog"]), class_of([0.1, 0.9], ["cat", "dog"])
    ('dog', 'dog', 'dog')
    >>> class_of(7, ["cat", "dog"]), class_of([0.5, 0.5], ["cat", "dog"])
    (None, None)
    """
    held = _label_as_python(label)
    if isinstance(held, list):
        if len(held) != len(classes) or not all(isinstance(one, bool | int | float) for one in held):
            return None
        best = max(range(len(held)), key=lambda place: held[place])
        return classes[best] if sum(one == held[best] for one in held) == 1 else None
    if isinstance(held, bytes):
        held = held.decode(errors="replace")
    if isinstance(held, str):
        return held if held in classes else None
    if isinstance(held, bool | int | float) and held == held // 1 and 0 <= held < len(classes):
        return classes[int(held)]
    return None


def label_with(label: Any, old: str, new: str, classes: Sequence[str]) -> Any:
    """Return a plain label that means `new` where the given one means `old`, written in the same way.

    In a row the two classes change places, so that smoothed labels stay as smooth as they were.

    >>> label_with(0, "cat", "dog", ["cat", "dog"]), label_with([0.9, 0.1], "cat", "dog", ["cat", "dog"])
    (1, [0.1, 0.9])
    """
    held = _label_as_python(label)
    if isinstance(held, bytes):
        return new.encode()
    if isinstance(held, str):
        return new
    place = classes.index(new)
    if isinstance(held, list):
        before = classes.index(old)
        held[before], held[place] = held[place], held[before]
        return held
    return type(held)(place)


def _label_as_python(label: Any) -> Any:
    """Return a label of numpy, torch or plain Python as a plain value, or a row of them as a new list."""
    held = label.tolist() if hasattr(label, "tolist") else list(label) if isinstance(label, list | tuple) else label
    while isinstance(held, list) and len(held) == 1:
        held = held[0]
    return held
