"""`BoundSubset`: the samples of one subset of a binding, encoded by somebody's functions when they are asked for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset.calling import Failed, call_theirs, defined_at
from cutaway.dataset.current import using
from cutaway.dataset.declarations import MetadataFunction, overlap
from cutaway.dataset.enums import DataStateType, Role
from cutaway.dataset.metadata_values import Unusable, metadata_columns
from cutaway.dataset.preprocessing import SubsetPart
from cutaway.dataset.responses import PreprocessResponse, SampleId, SamplePreprocessResponse
from cutaway.dataset.subset import Scalar, sample_id
from cutaway.errors import BindingError, EncoderError, did_you_mean

if TYPE_CHECKING:
    from cutaway.dataset.binder import Binder

__all__ = ["BoundSubset", "encoded"]

_KINDS = {Role.INPUT: "input", Role.GROUND_TRUTH: "ground truth"}


class BoundSubset:
    """The samples that the preprocess functions gave to one subset, one call of a function for each value.

    Nothing is kept: a value that is asked for twice is encoded twice. Any number of threads may ask at once, if the
    functions themselves allow it.
    """

    def __init__(self, binder: Binder, name: str, parts: Sequence[SubsetPart]) -> None:
        self.name = name
        self._binder = binder
        self._parts = list(parts)
        self._ends = list(accumulate(len(part.ids) for part in parts))
        self._encoders = [
            {(one.role, one.field.name): one for one in binder.encoders if overlap(one.subset, part.source)}
            for part in parts
        ]
        self._metadata = [
            [one for one in binder.metadata_functions if overlap(one.subset, part.source)] for part in parts
        ]

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def ids(self, start: int, stop: int) -> list[str]:
        """Return the samples' own ids as text."""
        return [part.shown(position) for part, position in map(self._find, range(start, min(stop, len(self))))]

    def encode(self, role: Role, name: str, index: int) -> Array:
        """Return one input or ground truth of one sample, as an array of numbers or text."""
        if role is Role.GROUND_TRUTH and self.name == DataStateType.unlabeled:
            raise BindingError(f"The samples of {self.name} have no ground truth, so {name!r} is not called for them.")
        number, position = self._locate(index)
        encoder = self._encoders[number].get((role, name))
        if encoder is None:
            known = [field for kind, field in self._encoders[number] if kind is role]
            raise BindingError(
                f"No {_KINDS[role]} {name!r} is bound for {self.name}.",
                hint=f"{did_you_mean(name, known)} There are {', '.join(known) or 'none'}.",
            )
        kind = _KINDS[role]
        result = self._call(kind, name, encoder.function, number, position)
        try:
            return encoded(result, exact=encoder.exact)
        except Unusable as reason:
            sample = self._sample(number, position)
            raise EncoderError(kind, name, sample, str(reason), defined_at(encoder.function)) from reason

    def encode_many(self, role: Role, name: str, start: int, stop: int) -> Array | None:  # noqa: ARG002
        """Functions of a binding take one sample at a time."""
        return None

    def metadata(self, index: int) -> dict[str, Scalar]:
        """Return the columns of every metadata function."""
        number, position = self._locate(index)
        columns: dict[str, Scalar] = {}
        for one in self._metadata[number]:
            columns |= self._columns(one, number, position, columns)
        return columns

    def response(self) -> Any:
        """Return the response of the preprocess function; a list of them where several were bound."""
        responses = [part.response for part in self._parts]
        return responses[0] if len(responses) == 1 else responses

    def sample_response(self, indices: Sequence[int]) -> SamplePreprocessResponse:
        """Return what a function is given that asks for the samples of its batch, under the ids of its own binding.

        Raises `Failed` for a batch that mixes the samples of several preprocess functions; one sample always works.
        """
        found = [self._find(index) for index in indices]
        responses: list[PreprocessResponse] = [part.response for part, _ in found]
        if any(response is not responses[0] for response in responses):
            raise Failed(f"a batch of {self.name} mixes the samples of several preprocess functions.", "")
        return SamplePreprocessResponse([part.ids[position] for part, position in found], responses[0])

    def _columns(
        self, one: MetadataFunction, number: int, position: int, others: dict[str, Scalar]
    ) -> dict[str, Scalar]:
        name = one.field.name
        result = self._call("metadata", name, one.function, number, position)
        try:
            columns = metadata_columns(one.field, result)
            _refuse_taken(columns, others)
        except Unusable as reason:
            sample = self._sample(number, position)
            raise EncoderError("metadata", name, sample, str(reason), defined_at(one.function)) from reason
        return columns

    def _call(self, kind: str, name: str, function: Callable[..., Any], number: int, position: int) -> Any:
        part = self._parts[number]
        own: SampleId = part.ids[position]
        try:
            with using(self._binder):
                return call_theirs(function, own, part.response)
        except Failed as failure:
            sample = self._sample(number, position)
            raise EncoderError(kind, name, sample, failure.reason, failure.place) from failure.__cause__

    def _sample(self, number: int, position: int) -> str:
        return sample_id(self.name, self._parts[number].shown(position))

    def _locate(self, index: int) -> tuple[int, int]:
        if not 0 <= index < len(self):
            raise IndexError(f"{self.name} has {len(self)} samples, but sample {index} was asked for.")
        number = bisect_right(self._ends, index)
        return number, index - (self._ends[number - 1] if number else 0)

    def _find(self, index: int) -> tuple[SubsetPart, int]:
        number, position = self._locate(index)
        return self._parts[number], position


def _refuse_taken(columns: Iterable[str], others: Container[str]) -> None:
    taken = next((column for column in columns if column in others), None)
    if taken is not None:
        raise Unusable(f"the column {taken!r} is made by another function already. Rename one of them.")


def encoded(result: Any, *, exact: bool) -> Array:
    """Return what an encoder returned as an array. Raises `Unusable` with the reason where it cannot be one.

    `exact` asks for what the decorators promise: an array of float32.
    """
    if result is None:
        raise Unusable("it returned None. Return an array.")
    if exact and not isinstance(result, np.ndarray):
        raise Unusable(f"it returned {type(result).__name__}. Return a numpy array of float32.")
    try:
        values = np.asarray(result)
    except Exception as error:
        # numpy asks the object itself for its values, so that anything may be raised; ragged lists end here too.
        raise Unusable(f"its result ({type(result).__name__}) is no array: {error}") from error
    if values.dtype.hasobject:
        raise Unusable(
            f"it returned an array of Python objects, shape {values.shape}. Return numbers, all rows of one length."
        )
    if values.dtype.kind not in "biufc":
        raise Unusable(f"it returned {values.dtype}, but numbers belong here. Encode text as numbers first.")
    if exact and values.dtype != np.float32:
        raise Unusable(f"it returned {values.dtype}. Return float32: `.astype(np.float32)`.")
    return values
