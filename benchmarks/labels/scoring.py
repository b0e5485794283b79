"""One training on planted labels: is the order, the number, each score and each suggestion true? Knows no bars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.labels.finding import chances_out_of_fold
from benchmarks.labels.planting import CLEAN, plant
from benchmarks.labels.sets import RATES, SETS, setting_of
from benchmarks.labels.watching import look_at
from cutaway.analysis.fixing import choose
from cutaway.analysis.labels import find_mislabeled, reliability
from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.analysis.samples import Samples

__all__ = ["measure_scoring", "score_case"]

# Of each set one sample in so many is for validation.
VALIDATED = 6
SIGNALS = ("probability_margin", "neighbour_margin", "ridge_margin", "held_out")
Ints = npt.NDArray[np.int64]
Figures = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def measure_scoring(job: dict[str, Any]) -> dict[str, Any]:
    """Train once on planted labels and hold what is said of them against the truth; then let the peers train."""
    data, seed = SETS[job["setting"]], job["seed"]
    x, y = data.read(None if job["source"] is None else Path(job["source"]))
    order = np.random.default_rng(50 + seed).permutation(len(y))[: int(len(y) * job["share"])]
    x, y = x[order], y[order]
    setting = setting_of(data, x, y, job["epochs"])
    rate = 0.0 if job["kind"] == CLEAN else RATES[seed]
    planted = plant(y, "uniform" if job["kind"] == CLEAN else job["kind"], rate, seed, setting.confusable)
    trained = len(y) - len(y) // VALIDATED
    samples, nearest = look_at(setting, x, planted.labels, trained=trained, seed=seed, scratch=Path(job["scratch"]))
    answer = score_case(samples, nearest, planted.labels, y)
    if job["folds"] and planted.wrong.any():
        chances = chances_out_of_fold(setting, x, planted.labels, seed)
        np.savez(job["folds"], chances=chances, labels=planted.labels, wrong=planted.wrong)
    return answer


def score_case(samples: Samples, nearest: Nearest, labels: Ints, right: Ints) -> dict[str, Any]:
    """Hold what is said of the labels of samples, in their order, against the right ones."""
    ranked = find_mislabeled(samples, nearest)
    table, wrong = ranked.table, labels != right
    place = {one: row for row, one in enumerate(samples.ids)}
    order = np.array([place[one] for one in table["sample"].to_pylist()])
    scores = np.asarray(table["score"].to_numpy(), np.float64)
    told = not np.isnan(scores).any()
    answer: dict[str, Any] = {"samples": len(labels), "wrong": int(wrong.sum()), "told": told}
    answer["reason"] = "" if told else ranked.words[0]
    if wrong.any():
        answer |= _precisions(samples, table, order, labels, wrong)
    if not told:
        return answer | dict.fromkeys(("relabelled", "relabelled_right", "dropped", "dropped_wrong"), 0)
    low, high = _interval(ranked.words[1])
    answer |= {"expected": float(scores.sum()), "low": low * len(labels), "high": high * len(labels)}
    return answer | {"bins": reliability(scores, wrong[order]).to_pylist(), **_fixed(samples, table, wrong, right)}


def _precisions(samples: Samples, table: Any, order: Ints, labels: Ints, wrong: Bools) -> dict[str, Any]:
    """The average precision of our order, of the trained model's loss, and of each signal alone."""
    margins = np.full((len(labels), len(SIGNALS)), np.nan)
    for column, name in enumerate(SIGNALS):
        margins[order, column] = table[name].to_numpy()
    # Held-out samples have no visits, so that their probability stands for those.
    visits = np.where(np.isfinite(margins[:, 0]), margins[:, 0], margins[:, 3])
    assert samples.probabilities is not None
    loss = -np.log(np.maximum(samples.probabilities[np.arange(len(labels)), labels], 1e-12))
    ours = np.empty(len(labels))
    ours[order] = np.arange(len(order))
    doubts = {"ours": -ours, "loss": loss, "visits": -visits, "votes": -margins[:, 1], "ridge": -margins[:, 2]}
    return {"precisions": {name: _precision(wrong, doubt) for name, doubt in doubts.items()}}


def _precision(wrong: Bools, doubt: Figures) -> float:
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(wrong, doubt))


def _interval(words: str) -> tuple[float, float]:
    """The interval of the share of wrong labels, as it is told."""
    low, high = words.partition("likely ")[2].rstrip(").").split(" to ")
    return float(low.rstrip("%")) / 100, float(high.rstrip("%")) / 100


def _fixed(samples: Samples, table: Any, wrong: Bools, right: Ints) -> dict[str, int]:
    """What `cutaway fix` would change of all subsets."""
    place = {one: row for row, one in enumerate(samples.ids)}
    decisions = choose(table, subsets=("training", "validation")).decisions
    relabels = [(place[one.sample], int(one.label or "")) for one in decisions if one.action == "relabel"]
    drops = [place[one.sample] for one in decisions if one.action == "drop"]
    return {
        "relabelled": len(relabels),
        "relabelled_right": sum(int(right[row] == label) for row, label in relabels),
        "dropped": len(drops),
        "dropped_wrong": int(wrong[drops].sum()),
    }
