"""`Comparison`: what two models' answers to the same samples say of the two. Computes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

__all__ = ["Comparison", "Difference"]


@dataclass(frozen=True)
class Difference:
    """A figure before and after: the change with a 95 % interval, and the p of a paired test."""

    before: float
    after: float
    change: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class Comparison:
    """Two models on the same `count` samples, all of the `subsets` that are compared.

    Nobody having chosen, these are the held-out ones that have an outcome: samples of training are compared only where
    nothing else is, for both models have seen them. Every figure below is of these samples alone.

    - `counts`: how many samples are right with both (`both right`), right before only (`worse`), right after only
      (`better`), wrong with both (`both wrong`), and of these how many with another wrong answer (`changed`). None
      where samples have no classes; `notes` then say why.
    - `accuracy` and `loss`: before, after, and the change, with Newcombe's paired interval and McNemar's exact p for
      the one, Student's and the signed-rank test's for the other. Of the samples that have a label and a prediction of
      both, and a finite loss of both by the same label. None where there is none.
    - `table`: the samples that flipped, those that got worst first: `sample`, `score` (how much of the label's
      probability was lost; negative where it was gained), `reason`, `flip` (`worse` or `better`), `before`, `after`,
      `label`, `loss_change`, `subset`, and `x` and `y` on the map. Without classes: those whose loss changed most.
    - `slices`: a row for each slice: `slice` (a condition), `column`, `count` (its samples that both models answered),
      `share` (of all that both answered), `worse`, `better`, `before`, `after`, `change`, `low`, `high`, `loss_change`,
      `p`, `p_adjusted` for all slices together, and `found`: whether that is at most 0.05. The surest come first.
    - `regions`: where on the map flips lie more densely than elsewhere: `flip`, `x`, `y`, `width`, `height`, `count`
      (samples there that both models answered), `flips`, `expected`, `p`, `p_adjusted`, `found`. None without a map.
    """

    names: tuple[str, str]
    count: int
    counts: Mapping[str, int] | None
    accuracy: Difference | None
    loss: Difference | None
    table: pa.Table
    slices: pa.Table
    regions: pa.Table | None
    subsets: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
