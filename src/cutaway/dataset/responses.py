"""What a preprocess function returns, and what metrics and model loaders hand over. Values that check themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from cutaway.dataset.enums import ConfusionMatrixValue, DataStateType
from cutaway.errors import BindingError, did_you_mean
from cutaway.wording import short_repr

__all__ = [
    "ConfusionMatrixElement",
    "PredictionTypeHandler",
    "PreprocessResponse",
    "SampleId",
    "SamplePreprocessResponse",
    "SubsetResponse",
]

SampleId: TypeAlias = int | str


class PreprocessResponse:
    """One subset as the preprocess function made it: which samples it has, and whatever the encoders need of it.

    Give either `length`, for the ids 0 to length - 1, or `sample_ids`: distinct integers, or any distinct texts.
    `data` is yours alone. `state` says which subset it is; None leaves that to its place in the list: training,
    validation, test, unlabeled. `sample_id_type` (int or str) is read off the ids where it is not given.

    >>> PreprocessResponse(length=3, data={"x": [1, 2, 3]}).sample_ids
    range(0, 3)
    """

    def __init__(
        self,
        length: int | None = None,
        data: Any = None,
        sample_ids: Iterable[SampleId] | None = None,
        state: DataStateType | None = None,
        sample_id_type: type[int] | type[str] | None = None,
    ) -> None:
        if (length is None) == (sample_ids is None):
            given = "both" if length is not None else "neither"
            raise BindingError(f"A response takes exactly one of `length` and `sample_ids`, but got {given}.")
        self.data = data
        self.state = None if state is None else _state(state)
        ids: Sequence[SampleId] = range(_length(length)) if sample_ids is None else _distinct(sample_ids)
        self.sample_ids = ids
        self.length = len(ids)
        self.sample_id_type = _id_type(ids, sample_id_type)

    def __len__(self) -> int:
        return self.length

    def __repr__(self) -> str:
        state = f", state={self.state.value}" if self.state is not None else ""
        return f"{type(self).__name__}(length={self.length}{state})"


class SubsetResponse(PreprocessResponse):
    """One subset with the ids 0 to length - 1: the first of a list is training, the second validation."""

    def __init__(self, length: int, data: Any = None) -> None:
        super().__init__(length=length, data=data)


@dataclass(frozen=True)
class SamplePreprocessResponse:
    """Given to a metric, loss or visualizer that has a parameter of this type: which samples the batch holds.

    `sample_ids` are as the preprocess function named them; `preprocess_response` is the subset that they come from.
    """

    sample_ids: Any
    preprocess_response: PreprocessResponse


@dataclass(frozen=True)
class ConfusionMatrixElement:
    """One decision of a model about one sample, for confusion matrices: what was expected, and how sure it was."""

    label: str
    expected_outcome: ConfusionMatrixValue
    predicted_probability: float
    id: str = ""


@dataclass(frozen=True)
class PredictionTypeHandler:
    """One output of the model that `@tensorleap_load_model` loads: its name, and its classes along `channel_dim`."""

    name: str
    labels: Sequence[str] = ()
    channel_dim: int = -1


def _state(state: DataStateType | str) -> DataStateType:
    try:
        return DataStateType(state)
    except ValueError:
        known = [one.value for one in DataStateType]
        raise BindingError(
            f"There is no state {state!r}.", hint=f"{did_you_mean(str(state), known)} There are {', '.join(known)}."
        ) from None


def _length(length: Any) -> int:
    if isinstance(length, bool) or not isinstance(length, int | np.integer) or length < 0:
        raise BindingError(f"`length` must be a number of samples, but got {length!r}.")
    return int(length)


def _distinct(ids: Iterable[Any]) -> list[SampleId]:
    listed = [one.item() if isinstance(one, np.generic) else one for one in ids]
    seen: set[str] = set()
    for one in listed:
        _fit_for_an_id(one)
        # An id is text everywhere else, so 7 and "7" are the same sample.
        if str(one) in seen:
            raise BindingError(
                f"Sample id {short_repr(one)} is there twice.", hint="The ids of a subset must be distinct."
            )
        seen.add(str(one))
    return listed


def _fit_for_an_id(one: Any) -> None:
    if isinstance(one, bool) or not isinstance(one, int | str):
        raise BindingError(
            f"A sample id must be an integer or a text, but got {short_repr(one)} ({type(one).__name__})."
        )
    try:
        str(one).encode()
    except UnicodeEncodeError as error:
        raise BindingError(f"Sample id {short_repr(one)} is no valid text: {error.reason}.") from error


def _id_type(ids: Sequence[SampleId], given: type[int] | type[str] | None) -> type[int] | type[str]:
    if given not in (None, int, str):
        raise BindingError(f"`sample_id_type` must be int or str, but got {given!r}.")
    if isinstance(ids, range):
        found: type[int] | type[str] = int
    else:
        kinds = {type(one) for one in ids}
        if len(kinds) > 1:
            raise BindingError("The sample ids of one subset must be all integers or all texts, but got both.")
        found = next(iter(kinds)) if kinds else (given or str)
    if given is not None and given is not found:
        raise BindingError(f"`sample_id_type` is {given.__name__}, but the sample ids are {found.__name__}.")
    return found
