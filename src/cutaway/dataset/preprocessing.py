"""Calls the preprocess functions of a binding, and sorts what they return into subsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cutaway.dataset.calling import Failed, call_theirs, own_name, place_prefix
from cutaway.dataset.current import using
from cutaway.dataset.declarations import SubsetFunction
from cutaway.dataset.enums import DataStateType
from cutaway.dataset.responses import PreprocessResponse, SampleId
from cutaway.errors import BindingError

if TYPE_CHECKING:
    from cutaway.dataset.binder import Binder

__all__ = ["SubsetPart", "check_responses", "prepare"]

_ORDER = tuple(DataStateType)
_MANDATORY = (DataStateType.training, DataStateType.validation)


@dataclass(frozen=True)
class SubsetPart:
    """The samples that one preprocess function gives to one subset.

    `ids` are those that are used. `prefix` stands before them in the ids that everybody else sees; it is empty unless
    several functions were bound.
    """

    source: str | None
    response: PreprocessResponse
    ids: Sequence[SampleId]
    prefix: str = ""

    def shown(self, position: int) -> str:
        """Return the id of a sample as text."""
        return f"{self.prefix}{self.ids[position]}"


def prepare(binder: Binder) -> dict[str, list[SubsetPart]]:
    """Return the parts of every subset, in the order training, validation, test, unlabeled."""
    if all(one.unlabeled for one in binder.subset_functions):
        raise BindingError(
            "No preprocess function is bound.",
            hint=(
                "Decorate the function that returns the subsets with `@tensorleap_preprocess()`, or call "
                "`set_preprocess(function)`."
            ),
        )
    several = sum(one.name is not None for one in binder.subset_functions) > 1
    found: dict[DataStateType, list[SubsetPart]] = {}
    for one in binder.subset_functions:
        with using(binder):
            responses = _call(one)
        for state, response in _by_state(one, responses).items():
            if state is DataStateType.unlabeled and one.unlabeled and state in found:
                raise BindingError(
                    f"{place_prefix(one.function)}the subset {state.value} is returned by two preprocess functions."
                )
            prefix = f"{one.name}/" if several else ""
            part = SubsetPart(one.name, response, _share(response.sample_ids, one.ratio), prefix)
            found.setdefault(state, []).append(part)
    missing = [state.value for state in _MANDATORY if state not in found]
    if missing:
        raise BindingError(
            f"{place_prefix(binder.subset_functions[0].function)}the subset {' and '.join(missing)} is missing; there "
            f"is {', '.join(state.value for state in found) or 'none'}.",
            hint="Return a response for training and one for validation; test and unlabeled may be left out.",
        )
    return {state.value: found[state] for state in _ORDER if state in found}


def _call(one: SubsetFunction) -> list[PreprocessResponse]:
    try:
        result = call_theirs(one.function)
    except Failed as failure:
        raise BindingError(f"{failure.place}: {own_name(one.function)} failed: {failure.reason}") from failure.__cause__
    if one.unlabeled:
        result = [result]
    return check_responses(one.function, result, unlabeled=one.unlabeled)


def check_responses(function: Any, result: Any, *, unlabeled: bool) -> list[PreprocessResponse]:
    """Return what a preprocess function returned. Raises `BindingError` where it is not distinct responses."""
    start = f"{place_prefix(function)}{own_name(function)} returned"
    wanted = "one PreprocessResponse" if unlabeled else "a list of PreprocessResponse, one for each subset"
    if not isinstance(result, list | tuple) or not result:
        raise BindingError(f"{start} {_kind(result)}.", hint=f"Return {wanted}.")
    for response in result:
        if not isinstance(response, PreprocessResponse):
            raise BindingError(f"{start} {_kind(response)}.", hint=f"Return {wanted}.")
    if len({id(response) for response in result}) < len(result):
        raise BindingError(f"{start} the same response twice.", hint="Make one for each subset.")
    return list(result)


def _by_state(one: SubsetFunction, responses: Sequence[PreprocessResponse]) -> dict[DataStateType, PreprocessResponse]:
    found: dict[DataStateType, PreprocessResponse] = {}
    for position, response in enumerate(responses):
        state = DataStateType.unlabeled if one.unlabeled else response.state
        if state is None:
            if position >= len(_ORDER):
                raise BindingError(
                    f"{place_prefix(one.function)}response {position + 1} of {len(responses)} has no `state`.",
                    hint=f"By position there are only {', '.join(_ORDER)}.",
                )
            state = _ORDER[position]
        if state in found:
            raise BindingError(
                f"{place_prefix(one.function)}two responses are {state.value}.",
                hint="Give each its own `state=DataStateType...`.",
            )
        found[state] = response
    return found


def _share(ids: Sequence[SampleId], ratio: float) -> Sequence[SampleId]:
    """Return a share of the ids, taken evenly from the whole: the first ones might all be of one class."""
    total = len(ids)
    used = min(total, max(1, round(total * ratio)))
    return ids if used == total else [ids[position * total // used] for position in range(used)]


def _kind(result: Any) -> str:
    return "an empty list" if isinstance(result, list | tuple) and not result else type(result).__name__
