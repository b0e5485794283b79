"""A report in a few sentences: how the subsets did, what is worst, which labels are suspected, how the training was."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from cutaway.analysis.figures.words import number, sentence
from cutaway.analysis.labels.words import SUSPICIOUS, suspicion
from cutaway.analysis.report.texts import cells, visible
from cutaway.analysis.report.values import ReportContent, Score
from cutaway.analysis.samples.held_out import TRAINING
from cutaway.run.findings import SEVERITIES, Finding, subject_of
from cutaway.wording import counted

__all__ = [
    "ends_of",
    "findings_of",
    "interval_words",
    "percent",
    "ranked_findings",
    "summary_of",
    "suspected",
    "value_words",
]

# More sentences are a report of their own.
MOST_SENTENCES = 6
# Who records insights as findings.
INSIGHTS = "analyze"


def summary_of(content: ReportContent) -> list[str]:
    """Return three to six sentences, the most important first; fewer where a run holds next to nothing."""
    found = [_damage(content), _scores(content.scores), _findings(content), _labels(content)]
    found += [
        _said(content, "leakage"),
        _insights(content),
        _tests(content),
        _health(content),
        _missing(content),
    ]
    return [visible(one, 500) for one in found if one][:MOST_SENTENCES]


def findings_of(content: ReportContent) -> list[Finding]:
    """Return the findings without the insights, where these are told as what they are."""
    apart = content.part("insights") is not None
    return [one for one in content.findings if not (apart and one.source == INSIGHTS)]


def ranked_findings(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings with the worst first, of one severity the oldest; what was not recorded comes last."""
    return sorted(findings, key=lambda one: (subject_of(one) == "recording", -_rank(one), one.time))


def suspected(content: ReportContent) -> list[float] | None:
    """Return the scores of the labels that are suspicious; None where labels were not looked at, or have no score."""
    table = content.table("mislabeled")
    if table is None or (table.num_rows and table["score"].null_count == table.num_rows):
        return None
    return [one for one in cells(table["score"]) if isinstance(one, float) and one >= SUSPICIOUS]


def percent(value: float) -> str:
    """Return a share in percent, with as many digits as tell it from none and from all.

    >>> percent(0.97214), percent(0.99996), percent(1.0)
    ('97.2 %', '99.996 %', '100 %')
    """
    if value in (0.0, 1.0):
        return f"{value:.0%}".replace("%", " %")
    for digits in (1, 2, 3):
        text = f"{100 * value:.{digits}f}"
        if 0 < float(text) < 100:
            break
    return f"{text} %"


def value_words(score: Score) -> str:
    """Return the value of a score: percent for a share, a number for a loss."""
    return percent(score.value) if score.what == "accuracy" else number(score.value)


def interval_words(score: Score) -> str:
    """Return the interval of a score, or nothing where there is none."""
    if not math.isfinite(score.low):
        return ""
    if score.what != "accuracy":
        return f"{number(score.low)} to {number(score.high)}"
    return f"{percent(score.low).removesuffix(' %')} to {percent(score.high)}"


def ends_of(scores: Sequence[Score]) -> tuple[float, float]:
    """Return the ends of a scale that holds the intervals of all scores and still tells them apart.

    >>> ends_of([Score("test", 100, 0, "accuracy", 0.97, 0.94, 0.98)])
    (0.9, 1.0)
    """
    known = [one for score in scores for one in (score.value, score.low, score.high) if math.isfinite(one)]
    if not known:
        return 0.0, 1.0
    if {one.what for one in scores if one.what} == {"accuracy"}:
        return math.floor(min(known) * 10) / 10, 1.0
    return min(0.0, *known), max(known)


def _scores(scores: Sequence[Score]) -> str:
    known = [one for one in scores if one.what]
    if not known:
        return ""
    # What the model was not trained on comes first: it says how good the model is.
    held = sorted(known, key=lambda one: one.subset == TRAINING)
    said = []
    for what in dict.fromkeys(one.what for one in held):
        each = ", ".join(_score_words(one) for one in held if one.what == what)
        said.append(sentence(f"{'Accuracy' if what == 'accuracy' else 'The mean loss'} is {each}"))
    return " ".join(said)


def _score_words(score: Score) -> str:
    interval = interval_words(score)
    return f"{value_words(score)} on {score.subset}{f' (95 % interval {interval})' if interval else ''}"


def _findings(content: ReportContent) -> str:
    bad = [one for one in ranked_findings(findings_of(content)) if one.severity != "info"]
    if not bad:
        return ""
    first = bad[0]
    begin = f"The worst of {len(bad):,} findings is" if len(bad) > 1 else "One finding:"
    return sentence(f"{begin} {first.code} ({first.severity}): {_first_sentence(first.message)}")


def _first_sentence(text: str) -> str:
    """Return what a message begins with: the rest says why, and what to do.

    >>> _first_sentence("The loss is 1.5 now. Lower the rate.")
    'The loss is 1.5 now.'
    """
    return visible(re.split(r"(?<=[.!?])\s+(?=[A-Z])", text[:1000], maxsplit=1)[0], 240)


def _labels(content: ReportContent) -> str:
    scores = suspected(content)
    if scores is None:
        return ""
    shown = "; the first of them are shown below" if scores else ""
    return sentence(f"{suspicion(len(scores), sum(scores))}{shown}")


def _said(content: ReportContent, analysis: str) -> str:
    part = content.part(analysis)
    if part is None or not part.words or not content.table(analysis):
        return ""
    return sentence(visible(part.words[0], 240))


def _insights(content: ReportContent) -> str:
    said = _said(content, "insights")
    count = len(content.table("insights") or ()) if said else 0
    return f"{counted(count, 'insight')}, the worst first: {said}" if count > 1 else said


def _tests(content: ReportContent) -> str:
    if not content.tests:
        return ""
    failed = sum(one.outcome != "passed" for one in content.tests)
    return f"{counted(len(content.tests), 'test')} on slices: {failed:,} did not pass."


def _health(content: ReportContent) -> str:
    health = content.head.health
    if not health:
        return ""
    if health.startswith(("healthy", "sick", "Not checked")):
        return sentence(f"The training is {health[0].lower()}{health[1:]}")
    return sentence(f"The training has {health}" if health[0].isdigit() else f"Training: {health}")


def _missing(content: ReportContent) -> str:
    """Say what is missing where nothing of the samples is known."""
    return "" if content.scores else "".join(sentence(reason) for name, reason in content.missing if name == "samples")


def _damage(content: ReportContent) -> str:
    if not content.damage:
        return ""
    return f"The run is damaged in {counted(len(content.damage), 'place')}; what is below is what could still be read."


def _rank(finding: Finding) -> int:
    return SEVERITIES.index(finding.severity) if finding.severity in SEVERITIES else len(SEVERITIES)
