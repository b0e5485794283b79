"""How often a verdict over repeats is false: nothing that matters changed between the trainings. Knows no bars."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.labels.settings import SETTINGS, read_data
from benchmarks.labels.watching import chances_of, train
from cutaway.analysis.fixing import gain_over_seeds

__all__ = ["measure_verdicts"]

# As in `cutaway fix --repeats 5`, with a training that is short enough to be done a thousand times.
REPEATS, EPOCHS = 5, 8
# So many good samples are left out in each trial: of 1,200 too few to matter, enough for the weights to end elsewhere.
LEFT_OUT = 12


def measure_verdicts(trials: Iterable[int]) -> dict[str, Any]:
    """Train in pairs, without and with a change that is none, and return what `fix` would say of each trial."""
    setting, verdicts = replace(SETTINGS["digits"], epochs=EPOCHS), []
    for trial in trials:
        data = read_data("digits", None, split=trial)
        every = np.arange(len(data.y))
        chosen = np.random.default_rng(trial).choice(every, LEFT_OUT, replace=False)
        pairs = [
            [
                train(setting, data.x, data.y, seed=trial * REPEATS + repeat, rows=rows)
                for rows in (every, np.setdiff1d(every, chosen))
            ]
            for repeat in range(REPEATS)
        ]
        before, after = (
            [float(np.mean(chances_of(pair[side], data.x_test).argmax(axis=1) == data.y_test)) for pair in pairs]
            for side in (0, 1)
        )
        verdicts.append(gain_over_seeds(before, after, len(data.y_test)).verdict)
    return {"verdicts": verdicts}
