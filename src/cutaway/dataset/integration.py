"""The integration test: run once for real, and read once for what goes where.

Inside the test decorated encoders return their sample with a batch axis of 1, the model takes and gives batches, and
visualizers are given their sample without that axis again. The reading pass runs the same body with placeholders: no
data is read, no model is loaded, and what each metric, loss, visualizer and model input is given is noted.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cutaway.dataset.calling import Failed, call_theirs, own_name
from cutaway.dataset.current import using
from cutaway.dataset.placeholders import ModelPlaceholder, Placeholder, origin_of
from cutaway.errors import BindingError

if TYPE_CHECKING:
    from cutaway.dataset.binder import Binder

__all__ = ["Reading", "Wires", "in_test", "inside_test", "outside_test", "read_wires", "reading", "run_test"]


@dataclass
class Wires:
    """What the integration test showed: the calls of each function by its kind and name, and model inputs.

    A call is the origin of each argument. Calls that say the same, or less than another, are one.
    """

    functions: dict[tuple[str, str], list[Mapping[str, str]]] = field(default_factory=dict)
    model_inputs: dict[str | int, str] = field(default_factory=dict)

    def calls(self, kind: str, name: str) -> dict[str, Mapping[str, str]]:
        """Return the calls of a function, empty where the test makes none; several are named by what differs in them.

        >>> both = [{"data": "ground_truth.mask"}, {"data": "prediction.mask"}]
        >>> list(Wires({("visualizer", "show"): both}).calls("visualizer", "show"))
        ['show(ground_truth.mask)', 'show(prediction.mask)']
        """
        made = self.functions.get((kind, name), [])
        made = [one for one in made if not any(one.items() < other.items() for other in made)]
        if len(made) < 2:
            return {name: made[0]} if made else {}
        arguments = dict.fromkeys(argument for one in made for argument in one)
        differing = [argument for argument in arguments if len({one.get(argument) for one in made}) > 1]
        # By the name of the argument too, where not every call has it.
        whole = all(argument in one for argument in differing for one in made)
        return {f"{name}({_differences(one, differing, whole=whole)})": one for one in made}


def _differences(call: Mapping[str, str], differing: Sequence[str], *, whole: bool) -> str:
    given = [argument for argument in differing if argument in call]
    return ", ".join(call[argument] if whole else f"{argument}={call[argument]}" for argument in given)


class Reading:
    """The pass that notes the wiring of one binder."""

    def __init__(self, binder: Binder) -> None:
        self.wires = Wires()
        self._binder = binder

    def model(self) -> ModelPlaceholder:
        """Return what stands for the model."""
        inputs = list(dict.fromkeys(one.field.name for one in self._binder.encoders if one.role == "input"))
        return ModelPlaceholder(inputs, [one.name for one in self._binder.predictions], self._note_input)

    def call(self, kind: str, name: str, function: Callable[..., Any], arguments: Any, named: Any) -> Placeholder:
        """Note what a function is given."""
        bound = inspect.signature(function).bind(*arguments, **named)
        found = {argument: origin_of(value) for argument, value in bound.arguments.items() if origin_of(value)}
        calls = self.wires.functions.setdefault((kind, name), [])
        if found not in calls:
            calls.append(found)
        return Placeholder()

    def _note_input(self, key: str | int, encoder: str) -> None:
        before = self.wires.model_inputs.setdefault(key, encoder)
        if before != encoder:
            raise BindingError(f"The model's input {key!r} is given {before!r} once and {encoder!r} another time.")


@dataclass(frozen=True)
class _Real:
    """The pass with real samples."""


_pass: ContextVar[Reading | _Real | None] = ContextVar("cutaway_integration_test", default=None)


def reading() -> Reading | None:
    """Return the reading pass where one is under way."""
    now = _pass.get()
    return now if isinstance(now, Reading) else None


def in_test() -> bool:
    """Whether the body of an integration test is being run with real samples."""
    return isinstance(_pass.get(), _Real)


@contextmanager
def inside_test(now: Reading | None = None) -> Iterator[None]:
    """Run the body of an integration test: for real, or to read its wiring."""
    token = _pass.set(now if now is not None else _Real())
    try:
        yield
    finally:
        _pass.reset(token)


@contextmanager
def outside_test() -> Iterator[None]:
    """Run somebody's encoder: the ones that it calls itself give it their samples as ever, without a batch axis."""
    token = _pass.set(None)
    try:
        yield
    finally:
        _pass.reset(token)


def read_wires(binder: Binder) -> Wires:
    """Return the wiring that the binder's integration test shows; empty where there is none."""
    if binder.integration_test is None:
        return Wires()
    now = Reading(binder)
    try:
        with using(binder), inside_test(now):
            call_theirs(binder.integration_test, Placeholder(), Placeholder())
    except Failed as failure:
        raise BindingError(
            f"{failure.place}: the integration test {own_name(binder.integration_test)} cannot be read for what goes "
            f"where: {failure.reason} It is run without data for that, so its body may only call decorated functions, "
            "index their results, and call the model."
        ) from failure.__cause__
    return now.wires


def run_test(binder: Binder, function: Callable[..., Any], sample_id: Any, preprocess: Any) -> Any:
    """Run the test with a real sample, then read its wiring; errors of the first come out as they are."""
    with using(binder), inside_test():
        result = function(sample_id, preprocess)
    read_wires(binder)
    return result
