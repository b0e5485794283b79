"""What a model decides about each label at a threshold, counted over the samples that are meant."""

from __future__ import annotations

from collections.abc import Sequence

from cutaway.analysis.classes.thresholds import threshold_counts
from cutaway.analysis.filters import parse_filter
from cutaway.analysis.samples import SUBSET
from cutaway.arrays import BoolArray
from cutaway.errors import AnalysisUnavailable
from cutaway.studio.answers.plain import text
from cutaway.studio.populations.loaded import Loaded
from cutaway.studio.wire.population import LabelDecisions, ThresholdDecisions

__all__ = ["threshold_decisions"]


def threshold_decisions(
    loaded: Loaded, metric: str, threshold: float, chosen: BoolArray, conditions: Sequence[str]
) -> ThresholdDecisions:
    """Return the counts of a confusion metric, of no label where none of these samples has a decision of it.

    Training samples count only where nothing is held out, or where one of the conditions that chose them is about
    subsets.
    """
    elements = loaded.remembered(("elements", metric), None, lambda: loaded.population.elements(metric))
    asked = any(parse_filter(one, loaded.schema).column == SUBSET for one in conditions)
    try:
        found = threshold_counts(
            metric,
            elements.of(chosen[elements.rows]),
            loaded.column(SUBSET),
            threshold,
            subsets=[name for name, count in loaded.counts.items() if count] if asked else None,
        )
    except AnalysisUnavailable as error:
        return ThresholdDecisions(
            metric=text(metric), threshold=threshold, samples=0, words=text(error.reason), labels=[], notes=[]
        )
    rows = [LabelDecisions(**{**one, "label": text(one["label"])}) for one in found.by_label.to_pylist()]
    return ThresholdDecisions(
        metric=text(metric),
        threshold=threshold,
        samples=found.samples,
        words=text(found.words()),
        labels=rows,
        notes=[text(one) for one in found.notes],
    )
