"""FeatureImportanceOverweight: a few features decide nearly everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cutaway.arrays import Float64Array
from cutaway.rules.arguments import Number, Pattern, Whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import lacking, saved_places, value_at
from cutaway.tensors.reader import TensorReader

__all__ = ["FeatureImportanceOverweight"]

# So many features are named at most.
MOST_NAMED = 10


class _Weights(NamedTuple):
    """How much each feature weighs at a step."""

    step: int
    features: list[str]
    weights: Float64Array

    def top(self, count: int) -> dict[str, float]:
        """Return the heaviest features, with their shares of the whole weight."""
        places = np.argsort(-self.weights, kind="stable")[:count]
        return {self.features[place]: float(self.weights[place] / self.weights.sum()) for place in places.tolist()}


@dataclass(eq=False, repr=False, kw_only=True)
class FeatureImportanceOverweight(Rule):
    """A few features carry nearly the whole importance of a model of trees.

    What it sees:
        The `nfeatures` most important features together have more than the share `threshold` of the importance of all
        features at a step. A model with no more than `nfeatures` features is not judged.

    Why it matters:
        Such a model stands and falls with a few columns. Often one of them leaks the answer (an id, a date, a value
        that is known only afterwards); and when one drifts or goes missing, the predictions go with it.

    What to try:
        Check first whether the features that the message names could know the answer. Then train without them and
        compare, sample columns for each tree (`colsample_bytree`), or make trees shallower.

    Needs:
        Tensors of importances that a hook saved in full: one number per feature, as one tensor or as one tensor for
        each feature (`feature_importance/weight/<feature>`).

    Parameters:
        threshold: the share of the whole importance that the heaviest features may have together.
        nfeatures: how many features are taken together.
        tensor_regex: finds the tensors of importances.
    """

    threshold: Number = Number(0.8, least=0, most=1)
    nfeatures: Whole = Whole(3, least=1)
    tensor_regex: Pattern = Pattern(".*feature_importance/weight")

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Compare the share of the heaviest features with the threshold at every saved step."""
        names = list(reader.tensor_names(regex=self.tensor_regex))
        if not names:
            raise lacking(reader, tensor_regex=self.tensor_regex, full=True)
        steps = reader.step_window(start, stop)["step"]
        found: dict[str, list[_Weights]] = {}
        for step in steps[saved_places(reader, steps)].tolist():
            for subject, weights in _weights(reader, names, step):
                if len(weights.features) > self.nfeatures and weights.weights.sum() > 0:
                    found.setdefault(subject, []).append(weights)
        for subject, own in found.items():
            yield self._judgement(subject, own)

    def _judgement(self, subject: str, own: list[_Weights]) -> Judgement:
        shares = np.array([sum(one.top(self.nfeatures).values()) for one in own])

        def message(i: int) -> str:
            top = own[i].top(min(self.nfeatures, MOST_NAMED))
            named = ", ".join(f"{feature} ({share:.0%})" for feature, share in top.items())
            return (
                f"{self.nfeatures} of {len(own[i].features)} features carry {shares[i]:.0%} of the importance in "
                f"{subject} at step {own[i].step}, more than {self.threshold:.0%}: {named}."
            )

        def evidence(i: int) -> dict[str, Any]:
            return {"features": own[i].top(self.nfeatures)}

        steps = [one.step for one in own]
        return Judgement.of_one(subject, steps, shares > self.threshold, shares, self.threshold, message, evidence)


def _weights(reader: TensorReader, names: list[str], step: int) -> Iterator[tuple[str, _Weights]]:
    """Yield each list of importances of a step: tensors of one number that stand together are one."""
    single: dict[str, dict[str, float]] = {}
    for name in names:
        value = value_at(reader, name, step)
        if value is None or value.dtype.kind not in "iuf":
            continue
        weights = np.abs(np.nan_to_num(value.reshape(-1).astype(np.float64)))
        if len(weights) == 1:
            group, _, feature = name.rpartition("/")
            single.setdefault(group or name, {})[feature] = float(weights[0])
        else:
            yield name, _Weights(step, [f"feature {i}" for i in range(len(weights))], weights)
    for group, features in single.items():
        yield group, _Weights(step, list(features), np.array(list(features.values())))
