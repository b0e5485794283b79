"""SaturatedActivation: layers most of whose tanh or sigmoid units sit where their gradient is nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cutaway.errors import ConfigurationError
from cutaway.rules.arguments import Number, PatternOrDefault
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import in_collection, saved_places, selected, share_per_channel, value_at
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.statistics_blocks import StatisticsBlock

__all__ = ["SaturatedActivation"]

DEFAULT_REGEX = ".*tanh_input|.*sigmoid_input"
TANH, SIGMOID = "tanh_inputs", "sigmoid_inputs"


class _Bounds(NamedTuple):
    """Between them an activation has a gradient."""

    function: str
    low: float
    high: float

    def certain(self, block: StatisticsBlock) -> Any:
        """Return where statistics alone prove that every value lies outside."""
        beyond = block["abs_min"] > max(abs(self.low), abs(self.high))
        return (block["nonfinite"] == 0) & ((block["min"] > self.high) | (block["max"] < self.low) | beyond)


@dataclass(eq=False, repr=False, kw_only=True)
class SaturatedActivation(Rule):
    """Most of the tanh or sigmoid units of a layer are saturated: their inputs are so large that no gradient passes.

    What it sees:
        An input outside the bounds of its function has a gradient below 1e-7. A unit (a channel) is saturated at a
        step where fewer than `threshold_inactivity` percent of its inputs lie inside. The rule fires where more than
        `threshold_layer` percent of the units of a layer are saturated.

    Why it matters:
        No gradient passes a saturated unit, so the layers before it stop learning, while the loss may stay finite and
        look merely flat.

    What to try:
        Scale or normalise what the layer receives (BatchNorm, LayerNorm, inputs around zero), initialise with a
        smaller spread (Xavier), lower the learning rate, or use ReLU-like functions inside the network.

    Needs:
        Inputs of tanh and sigmoid modules: the collections `tanh_inputs` and `sigmoid_inputs`. Full values tell each
        unit apart. From statistics alone the rule fires only where every input is outside the bounds, and is silent
        about the rest.

    Parameters:
        tensor_regex: a regular expression for inputs of tanh and sigmoid; the default also takes the collections
            `tanh_inputs` and `sigmoid_inputs`. Names with `sigmoid` in them are sigmoids, all others tanh.
        threshold_tanh_min: the input of tanh below which it is saturated.
        threshold_tanh_max: the input of tanh above which it is saturated.
        threshold_sigmoid_min: the input of sigmoid below which it is saturated.
        threshold_sigmoid_max: the input of sigmoid above which it is saturated.
        threshold_inactivity: the percentage of inputs inside the bounds below which a unit is saturated.
        threshold_layer: the percentage of saturated units in a layer above which the rule fires.
    """

    tensor_regex: PatternOrDefault = PatternOrDefault(DEFAULT_REGEX)
    threshold_tanh_min: Number = Number(-9.4999)
    threshold_tanh_max: Number = Number(9.4999)
    threshold_sigmoid_min: Number = Number(-23)
    threshold_sigmoid_max: Number = Number(16.99999)
    threshold_inactivity: Number = Number(1.0, above=0, most=100)
    threshold_layer: Number = Number(50.0, least=0, most=100)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._tanh = _Bounds("tanh", self.threshold_tanh_min, self.threshold_tanh_max)
        self._sigmoid = _Bounds("sigmoid", self.threshold_sigmoid_min, self.threshold_sigmoid_max)
        for function, low, high in (self._tanh, self._sigmoid):
            if low >= high:
                raise ConfigurationError(
                    f"`threshold_{function}_min < threshold_{function}_max` must hold, but got {low:g} and {high:g}."
                )

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Find the share of saturated units of every input of a tanh or sigmoid."""
        collections = [TANH, SIGMOID] if self.tensor_regex == DEFAULT_REGEX else []
        names = selected(reader, collections, self.tensor_regex)
        known = set(in_collection(reader, SIGMOID))
        sigmoids = [name for name in names if name in known or "sigmoid" in name.lower()]
        others = [name for name in names if name not in sigmoids]
        for chosen, bounds in ((others, self._tanh), (sigmoids, self._sigmoid)):
            for block in reader.statistics_blocks(chosen, start, stop):
                yield self._judged(reader, block, bounds)

    def _judged(self, reader: TensorReader, block: StatisticsBlock, bounds: _Bounds) -> Judgement:
        saturated = np.where(bounds.certain(block), 100.0, 0.0)
        units = np.zeros(saturated.shape, np.int64)  # how many there are, where that is known
        for column in saved_places(reader, block.steps):
            for row, name in enumerate(block.names):
                value = value_at(reader, name, int(block.steps[column]))
                if value is not None and value.size:
                    inside = 100 * share_per_channel((value >= bounds.low) & (value <= bounds.high))
                    saturated[row, column] = 100 * np.mean(inside < self.threshold_inactivity)
                    units[row, column] = len(inside)

        def message(tensor: int, step: int) -> str:
            share, count = saturated[tensor, step], units[tensor, step]
            name, at = block.names[tensor], block.steps[step]
            which = f"{round(share * count / 100)} of {count} units" if count else "All units"
            return (
                f"{which} of {name} are saturated at step {at}: their inputs to {bounds.function} lie outside "
                f"{bounds.low:.7g} to {bounds.high:.7g}. More than {self.threshold_layer:g} % of a layer is too much."
            )

        def evidence(tensor: int, step: int) -> Mapping[str, Any]:
            count = int(units[tensor, step])
            return {
                "from": "full values" if count else "minimum and maximum",
                **({"units": count} if count else {}),
                "min": float(block["min"][tensor, step]),
                "max": float(block["max"][tensor, step]),
            }

        fires = saturated > self.threshold_layer
        return Judgement(block.names, block.steps, fires, saturated, self.threshold_layer, message, evidence)
