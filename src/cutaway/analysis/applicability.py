"""Which analyses apply to some samples, and of the others why not. Looks at columns only; computes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cutaway.analysis.origin import Origin
from cutaway.analysis.samples import CORRECT, LABEL, LOSS, PREDICTION, SUBSET, Samples

__all__ = ["Applies", "what_applies"]

Reason = Callable[[Samples, Origin | None], str]


@dataclass(frozen=True)
class Applies:
    """Whether one analysis applies; `reason` is empty where it does."""

    analysis: str
    reason: str = ""

    @property
    def applies(self) -> bool:
        """Whether it can be asked for."""
        return not self.reason


def what_applies(samples: Samples, origin: Origin | None) -> list[Applies]:
    """Return every analysis with the reason why it does not apply, in the order in which people ask."""
    return [Applies(name, reason(samples, origin)) for name, reason in _REASONS.items()]


def _map(samples: Samples, _: Origin | None) -> str:
    usable = int(samples.finite.sum())
    if not usable:
        return "no sample has a latent vector that is finite" if len(samples) else "there are no samples"
    return ""


def _similar(samples: Samples, _: Origin | None) -> str:
    usable = int(samples.finite.sum())
    return "" if usable > 1 else f"it takes two samples with finite latent vectors, and there are {usable}"


def _clusters(samples: Samples, origin: Origin | None) -> str:
    reason = _similar(samples, origin)
    if reason:
        return reason
    first = samples.latents[np.flatnonzero(samples.finite)[0]]
    if bool((samples.latents[samples.finite] == first).all()):
        return "all latent vectors are the same"
    return ""


def _class_distances(samples: Samples, origin: Origin | None) -> str:
    return _map(samples, origin) or _labels(samples, origin)


def _labels(samples: Samples, origin: Origin | None) -> str:
    if samples.has(LABEL):
        return ""
    return (origin.answer.reason if origin is not None else "") or "these samples have no labels"


def _confusion(samples: Samples, origin: Origin | None) -> str:
    reason = _labels(samples, origin)
    if reason:
        return reason
    return "" if samples.has(PREDICTION) and samples.has(CORRECT) else "these samples have no predictions"


def _curve(samples: Samples, _: Origin | None) -> str:
    metrics = [name for name in samples.table.column_names if name.startswith("metric.") and samples.has(name)]
    if not samples.has(LOSS) and not metrics:
        return "these samples have neither a loss nor a metric"
    return ""


def _mislabeled(samples: Samples, origin: Origin | None) -> str:
    reason = _labels(samples, origin)
    if reason:
        return reason
    labels = samples.column(LABEL).unique().drop_null()
    return "" if len(labels) > 1 else f"every sample has the label {labels[0].as_py()!r}"


def _ambiguous(samples: Samples, origin: Origin | None) -> str:
    if samples.probabilities is not None:
        return ""
    return _similar(samples, origin) or _labels(samples, origin)


def _duplicates(samples: Samples, origin: Origin | None) -> str:
    return "" if samples.hashes is not None and len(samples) > 1 else _similar(samples, origin)


def _leakage(samples: Samples, origin: Origin | None) -> str:
    subsets = len(samples.column(SUBSET).unique())
    return _duplicates(samples, origin) or ("" if subsets > 1 else "it takes two subsets, and there is one")


def _to_label(samples: Samples, origin: Origin | None) -> str:
    if "unlabeled" in samples.column(SUBSET).unique().to_pylist():
        return ""
    reason = _labels(samples, origin)
    if reason or samples.column(LABEL).null_count:
        return reason
    return "every sample has a label; put those without one into the subset `unlabeled`"


def _insights(samples: Samples, _: Origin | None) -> str:
    return "" if len(samples) > 1 else f"it takes two samples, and there are {len(samples)}"


def _units(samples: Samples, origin: Origin | None) -> str:
    return _map(samples, origin)


def _heat_maps(_: Samples, origin: Origin | None) -> str:
    if origin is None:
        return "these samples come from arrays, and there is no model to ask"
    return ""


def _loss_heat_maps(samples: Samples, origin: Origin | None) -> str:
    reason = _heat_maps(samples, origin)
    if reason or origin is None:
        return reason
    return "" if origin.answer.truth is not None else "no prediction is compared with a ground truth"


def _batches(_: Samples, origin: Origin | None) -> str:
    if origin is None:
        return "these samples come from arrays, not from a run"
    if origin.evaluation.run.identity.get("kind") == "evaluation":
        return "the run holds an evaluation only; no training was watched in it"
    return ""


_REASONS: dict[str, Reason] = {
    "map": _map,
    "similar": _similar,
    "clusters": _clusters,
    "class distances": _class_distances,
    "units": _units,
    "curve": _curve,
    "confusion": _confusion,
    "heat maps": _heat_maps,
    "loss heat maps": _loss_heat_maps,
    "batches": _batches,
    "mislabeled": _mislabeled,
    "ambiguous": _ambiguous,
    "duplicates": _duplicates,
    "leakage": _leakage,
    "outliers": _similar,
    "to label": _to_label,
    "insights": _insights,
}
