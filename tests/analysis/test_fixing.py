"""What is changed of labels that nobody spoiled, and of spoiled ones, after a training that was far from its end."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.fixing import choose
from cutaway.analysis.labels import find_mislabeled
from tests.analysis.planted import digits, flipped, near, trained


@pytest.mark.parametrize("rate", [0.0, 0.05])
def test_next_to_no_good_label_is_touched_and_most_spoiled_ones_are_put_right(rate: float) -> None:
    x, y = digits()
    labels = flipped(y, "uniform", rate, 0)
    samples = trained(x, labels, epochs=1)
    ranked = find_mislabeled(samples, near(samples))
    choice = choose(ranked.table, samples=len(y))
    changed = {int(one.sample.split("/")[-1]): one for one in choice.decisions}
    rows = np.array(sorted(changed), int)
    assert (labels[rows] == y[rows]).sum() <= 0.005 * len(y)
    if rate:
        relabelled = {row: one.label for row, one in changed.items() if one.action == "relabel"}
        right = sum(label == str(y[row]) for row, label in relabelled.items())
        assert right >= 0.95 * len(relabelled)
        assert right >= 0.5 * (labels != y).sum()
