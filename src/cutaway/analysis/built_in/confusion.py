"""Which classes are predicted as which, and what is decided about each label at a threshold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from cutaway.analysis.population.applicability import no_labels
from cutaway.analysis.population.contract import Analysis, InReport
from cutaway.analysis.population.options import option
from cutaway.analysis.population.result import AnalysisResult, Draw
from cutaway.analysis.samples import CORRECT, PREDICTION, SUBSET, Samples
from cutaway.analysis.samples.held_out import TRAINING, VALIDATION, judged_subsets
from cutaway.errors import AnalysisUnavailable
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.classes.confusion import ConfusionCounts
    from cutaway.analysis.classes.thresholds import ThresholdCounts
    from cutaway.analysis.population.population import Population
    from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["ConfusionOfClasses"]


@dataclass(frozen=True)
class ConfusionOptions:
    """What a confusion matrix can be asked with."""

    by: str | None = option(metavar="COLUMN", help="split by this column.")
    metric: str | None = option(metavar="NAME", help="by label, from this metric of confusion elements.")
    threshold: float | None = option(metavar="P", help="a label is predicted above this probability; by default 0.5.")


class ConfusionOfClasses(Analysis):
    """Which classes are predicted as which, and with a metric of confusion elements what is right at a threshold."""

    name = "confusion"
    options = ConfusionOptions
    in_report = InReport(section="confusion", figures=2)
    further = ("classes", "thresholds")

    def why_not(self, samples: Samples, origin: EvaluatedPopulation | None) -> str:
        """Return why it does not apply to these samples."""
        return "" if origin is not None and origin.confusion_metrics else _no_classes(samples, origin)

    def make(self, population: Population, seed: int, progress: Listener | None) -> AnalysisResult:
        """Return the pairs of classes, and how each class did, in each subset; and each label at a threshold of 0.5."""
        counts, notes = _all_counts(population)
        words = [one.words() for one in counts]
        if _no_classes(population.samples, population.origin):
            if not counts:
                raise AnalysisUnavailable("confusion matrix", " ".join(notes))
            return AnalysisResult("confusion", tuple(words), {"confusion": _table(counts)}, tuple(notes))
        found = population.confusion(by=SUBSET)
        tables = {"confusion": _each(found, SUBSET, _pairs), "classes": _each(found, SUBSET, _classes)}
        if counts:
            tables["thresholds"] = _table(counts)
        return AnalysisResult("confusion", (*_words(found), *words), tables, (*found.notes, *notes))

    def answer(
        self, population: Population, options: ConfusionOptions, seed: int, progress: Listener | None
    ) -> AnalysisResult:
        """Return the same with the pairs that are confused most; or the labels at a threshold.

        Unless it is split by the subset, what was held out counts.
        """
        metrics = () if population.origin is None else population.origin.confusion_metrics
        asked = options.metric is not None or options.threshold is not None
        if asked or (metrics and _no_classes(population.samples, population.origin)):
            return _at_threshold(population, options)
        by = options.by or SUBSET
        found = population.confusion(by=by)
        also = [
            f"`--metric {one}` counts its decisions by label, `--threshold` at another than 0.5." for one in metrics
        ]
        return AnalysisResult(
            self.name,
            _words(found),
            {
                "confusion": _each(found, by, _pairs),
                "most_confused": _each(found, by, _most_confused),
                "classes": _each(found, by, _classes),
            },
            (*found.notes, *also),
            figures=_drawn(found),
            shown="most_confused",
        )

    def figures(self, population: Population, part: AnalysisResult, seed: int) -> dict[str, Draw]:
        """Return the matrix of classes in each subset, and one of decisions for each metric that has them."""
        from cutaway.analysis.population.plotting import plot_threshold

        drawn: dict[str, Draw] = {one.metric: partial(plot_threshold, one) for one in _all_counts(population)[0]}
        if _no_classes(population.samples, population.origin):
            return drawn
        first, *others = _drawn(population.confusion(by=SUBSET)).items()
        # A report draws the first ones: the matrix that counts most, and what is decided.
        return dict([first, *drawn.items(), *others])


def _words(found: ConfusionCounts) -> tuple[str, ...]:
    return tuple(f"{name}: {found.parts[name].words()}" for name in _ordered(found)) or (found.words(),)


def _ordered(found: ConfusionCounts) -> list[str]:
    """Return the parts; of subsets those that the model is judged by first, and of these validation."""
    first = judged_subsets(found.parts) if TRAINING in found.parts else ()
    first = tuple(sorted(first, key=lambda name: name != VALIDATION))
    return [*first, *(name for name in found.parts if name not in first)]


def _each(found: ConfusionCounts, by: str, table_of: Callable[[ConfusionCounts], pa.Table]) -> pa.Table:
    """Return one table of all parts, of which the first column says which one a row is of."""
    tables = []
    for name in _ordered(found):
        own = table_of(found.parts[name])
        tables.append(own.add_column(0, by, pa.array([name] * own.num_rows, pa.string())))
    return pa.concat_tables(tables) if tables else table_of(found)


def _pairs(found: ConfusionCounts) -> pa.Table:
    return found.pairs


def _classes(found: ConfusionCounts) -> pa.Table:
    return found.by_class


def _most_confused(found: ConfusionCounts) -> pa.Table:
    return found.most_confused()


def _drawn(found: ConfusionCounts) -> dict[str, Draw]:
    from cutaway.analysis.population.plotting import plot_confusion

    return {name: partial(plot_confusion, found.parts[name], f"Confusion: {name}") for name in _ordered(found)}


def _no_classes(samples: Samples, origin: EvaluatedPopulation | None) -> str:
    """Return why the samples do not have one class each, true and predicted."""
    reason = no_labels(samples, origin)
    if reason:
        return reason
    return "" if samples.has(PREDICTION) and samples.has(CORRECT) else "these samples have no predictions"


def _at_threshold(population: Population, options: ConfusionOptions) -> AnalysisResult:
    from cutaway.analysis.classes.thresholds import THRESHOLD
    from cutaway.analysis.population.plotting import plot_threshold

    threshold = THRESHOLD if options.threshold is None else options.threshold
    found = population.threshold_confusion(options.metric, threshold, by=options.by)
    table = _table([found]) if not found.parts else _table_of_parts(found)
    return AnalysisResult(
        "confusion",
        (found.words(), *(f"{name}: {one.words()}" for name, one in found.parts.items())),
        {"thresholds": table},
        found.notes,
        title=f"{found.metric} above {threshold:g}",
        figures={"thresholds": lambda: plot_threshold(found)},
        shown="thresholds",
    )


def _all_counts(population: Population) -> tuple[list[ThresholdCounts], list[str]]:
    """Return the counts of every metric that has decisions, at the usual threshold, and what is to be said of them."""
    counts: list[ThresholdCounts] = []
    notes: list[str] = []
    for name in () if population.origin is None else population.origin.confusion_metrics:
        try:
            counts.append(population.threshold_confusion(name))
            notes += counts[-1].notes
        except AnalysisUnavailable as error:
            notes.append(error.reason)
    return counts, notes


def _table(counts: Sequence[ThresholdCounts]) -> pa.Table:
    """Return a row for each metric and label."""
    return pa.concat_tables(
        one.by_label.add_column(0, "metric", pa.array([one.metric] * len(one.by_label), pa.string())).append_column(
            "threshold", pa.array([one.threshold] * len(one.by_label), pa.float64())
        )
        for one in counts
    )


def _table_of_parts(found: ThresholdCounts) -> pa.Table:
    """Return a row for each part and label; the whole has no part."""
    parts = [(None, found), *found.parts.items()]
    return pa.concat_tables(
        _table([one]).add_column(0, "part", pa.array([name] * len(one.by_label), pa.string())) for name, one in parts
    )
