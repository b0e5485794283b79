"""PoorWeightInitialization: first weights that a training cannot start from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

import numpy as np

from cutaway.rules.arguments import Number, PatternOrDefault, Whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.losses import LossCurve, LossCurves, training
from cutaway.rules.network import SeenNetwork
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import in_collection, lacking, saved_places, value_at
from cutaway.tensors.reader import TensorReader

__all__ = ["PoorWeightInitialization"]

DEFAULT_REGEX = ".*relu_input"
COLLECTION = "relu_inputs"
# From the 5th to the 95th percentile of a normal distribution lie so many standard deviations.
_RANGE = 2 * 1.645


@dataclass(eq=False, repr=False, kw_only=True)
class PoorWeightInitialization(Rule):
    """The first weights let the signal fade or swell from layer to layer, and the loss does not start to fall.

    What it sees:
        In the first `steps` training steps, the loss has not come below its lowest for `patience` steps, and the first
        of them showed one of two signs: the variance of the inputs of activations differed between layers by more than
        `threshold` times, or the middle 90 percent of the values of half of the gradients lay within
        `distribution_range`, not counting gradients of nothing but zeros, which AllZero names. Upstream takes each of
        the three alone for enough; but many healthy trainings begin with one of them, so here the loss must agree.
        Gradients that were not saved in full are taken for normally distributed: their range is then estimated as 3.29
        times their standard deviation. Deep plain networks with the initialisation that PyTorch starts from often show
        a sign and a loss that stands: they do learn in the end, but start much later than they could.

    Why it matters:
        Where the signal shrinks on its way, first layers receive no gradient and wait for the last ones; where it
        grows, the first updates tear the weights apart. A training that starts badly seldom ends as well.

    What to try:
        Initialise for the activation: He (`torch.nn.init.kaiming_normal_`) before ReLU, Xavier before tanh and sigmoid.
        Put normalisation between the layers, or skip connections around them. Scale inputs to mean 0 and variance 1.

    Needs:
        A loss of training steps, and inputs of activations (the collection `relu_inputs`) or gradients; with only one
        of these only one sign is looked for.

    Parameters:
        activation_inputs_regex: a regular expression for inputs of activations; the default also takes the collection
            `relu_inputs`.
        threshold: how many times the variance of one layer's inputs may be that of another's.
        distribution_range: how wide the middle 90 percent of a gradient's values should lie.
        patience: after how many steps without a lower loss it does not fall.
        steps: how many training steps are looked at, from the first.
    """

    activation_inputs_regex: PatternOrDefault = PatternOrDefault(DEFAULT_REGEX)
    threshold: Number = Number(10.0, above=1)
    distribution_range: Number = Number(0.001, above=0)
    patience: Whole = Whole(5, least=1)
    steps: Whole = Whole(10, least=1)

    @classmethod
    def advice(cls, network: SeenNetwork) -> str:
        """Name the activations that there are, and what goes with them."""
        rest = "put normalisation between the layers, or skip connections around them"
        scale = "Scale inputs to mean 0 and variance 1."
        if network.saturating and not network.open:
            names = " and ".join(network.saturating)
            return (
                f"Initialise for {names} (Xavier, `torch.nn.init.xavier_normal_`), and {rest}; in a deep network put "
                f"ReLU in their place. {scale}"
            )
        if network.open and not network.saturating:
            names = " and ".join(network.open)
            return f"Initialise for {names} (He, `torch.nn.init.kaiming_normal_`), and {rest}. {scale}"
        return ""

    def reset(self) -> None:
        """Forget the loss."""
        self._curves = LossCurves()
        self._left = self.steps  # training steps still to be looked at
        self._lowest, self._since = math.inf, 0
        self._signs: _Signs | None = None

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Look at the first training steps; afterwards at nothing."""
        if not self._left:
            return
        inputs, gradients = self._inputs(reader), in_collection(reader, "gradients")
        if not inputs and not gradients:
            raise lacking(reader, [COLLECTION, "gradients"])
        losses = training(self._curves.read(reader, start, stop))
        if not losses:
            return
        name, mode, steps, values, fresh = losses[0]
        steps, values = steps[: self._left], values[: self._left]
        if self._signs is None:
            self._signs = _Signs.read(reader, inputs, gradients, int(steps[0]))
        self._left -= len(steps)
        yield self._judged(LossCurve(name, mode, steps, values, fresh), self._signs)

    def _inputs(self, reader: TensorReader) -> list[str]:
        found = set(reader.tensor_names(regex=self.activation_inputs_regex))
        if self.activation_inputs_regex == DEFAULT_REGEX:
            found.update(in_collection(reader, COLLECTION))
        return sorted(found)

    def _judged(self, loss: LossCurve, signs: _Signs) -> Judgement:
        stands = np.array([self._not_lower(value) >= self.patience for value in loss.values.tolist()])
        uneven, narrow = signs.ratio > self.threshold, signs.spread < self.distribution_range
        seen = []
        if uneven:
            seen.append(
                f"the variance of {signs.widest} was {signs.ratio:.3g} times that of {signs.narrowest}, more than "
                f"{self.threshold:g}"
            )
        if narrow:
            seen.append(
                f"the middle 90 percent of half of the gradients lay within {signs.spread:.2g}"
                f"{' (estimated)' if signs.estimated else ''}, less than {self.distribution_range:g}"
            )

        def message(i: int) -> str:
            return (
                f"The weights are poorly initialised: at step {signs.step} {', and '.join(seen)}; at step "
                f"{loss.steps[i]} {loss.name} has not fallen for {self.patience} steps and is {loss.values[i]:.4g}."
            )

        def evidence(i: int) -> dict[str, float | int | str | bool | None]:
            return {
                "since": signs.step,
                "threshold": self.threshold if uneven else self.distribution_range,
                "variance_ratio": _as_json_number(signs.ratio),
                "gradient_range": _as_json_number(signs.spread),
                "gradient_range_estimated": signs.estimated,
                "loss": _as_json_number(loss.values[i]),
            }

        fires = stands & (uneven or narrow)
        value = np.full(len(stands), signs.ratio if uneven else signs.spread)
        return Judgement.of_one("", loss.steps, fires, value, self.threshold, message, evidence)

    def _not_lower(self, value: float) -> int:
        """Return for how many steps the loss has not come below its lowest, with one more value."""
        self._since += 1
        if value < self._lowest:
            self._lowest, self._since = value, 0
        return self._since


class _Signs(NamedTuple):
    """What a step shows: how unlike the layers' variances are, and between which, and how wide the gradients lie.

    Both are NaN where unknown.
    """

    step: int
    ratio: float
    widest: str
    narrowest: str
    spread: float
    estimated: bool

    @classmethod
    def read(cls, reader: TensorReader, inputs: Sequence[str], gradients: Sequence[str], step: int) -> _Signs:
        """Look at one step."""
        ordered = sorted((one, name) for name, one in _deviations(reader, inputs, step).items())
        (low, narrowest), (high, widest) = (ordered[0], ordered[-1]) if ordered else ((math.nan, ""),) * 2
        ratio = high**2 / low**2 if low else (math.inf if high else math.nan)
        spreads = {name: _RANGE * one for name, one in _deviations(reader, gradients, step).items()}
        exact = _percentiles(reader, gradients, step)
        # Gradients of nothing but zeros are AllZero's: something lets none through, however wide the weights lie.
        spread = median([one for one in {**spreads, **exact}.values() if one] or [math.nan])
        return cls(step, ratio, widest, narrowest, spread, estimated=len(exact) < len(spreads))


def _deviations(reader: TensorReader, names: Sequence[str], step: int) -> dict[str, float]:
    """Return the standard deviations of the tensors that have more than one value at a step."""
    found = {}
    for block in reader.statistics_blocks(names, step, step + 1):
        for row, name in enumerate(block.names):
            if block.finite[row, 0] > 1:
                found[name] = float(block["std"][row, 0])
    return found


def _percentiles(reader: TensorReader, names: Sequence[str], step: int) -> dict[str, float]:
    """Return how wide the middle 90 percent of the tensors lie that were saved in full at a step."""
    found = {}
    if saved_places(reader, np.array([step])):
        for name in names:
            value = value_at(reader, name, step)
            good = np.empty(0) if value is None else value[np.isfinite(value)]
            if good.size > 1:
                low, high = np.percentile(good, [5, 95]).tolist()
                found[name] = high - low
    return found


def _as_json_number(value: float) -> float | str | None:
    """Return what JSON can hold."""
    if math.isnan(value):
        return None
    return float(value) if math.isfinite(value) else str(value)
