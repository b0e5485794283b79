"""How the classes of a ground truth are spread over subsets: absent ones, one-class subsets, imbalance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from cutaway.dataset.enums import DataStateType
from cutaway.evaluation.checks.looking import GROUND_TRUTH, labels_of
from cutaway.evaluation.checks.scanning import Scan
from cutaway.evaluation.checks.sheet import Sheet
from cutaway.wording import listed

__all__ = ["class_counts", "judge_balance"]

# Fewer samples than this say nothing about how classes are spread.
ENOUGH = 10
# How many times as large as the smallest class the largest may be.
UNEVEN = 10.0
TRAINING = DataStateType.training.value
MOST_NAMED = 5


def class_counts(scan: Scan, truth: str) -> dict[str, Counter[int]]:
    """Count the classes of a ground truth in each subset that has any; empty where samples have several labels."""
    if truth in scan.multi_label:
        return {}
    counts = {
        name: Counter(row.classes[truth] for row in rows if truth in row.classes) for name, rows in scan.samples.items()
    }
    return {name: counter for name, counter in counts.items() if counter}


def judge_balance(sheet: Sheet, scan: Scan) -> dict[str, dict[str, int]]:
    """Tell what is wrong with how classes are spread. Returns the counts of the first ground truth that has classes."""
    shown: dict[str, dict[str, int]] = {}
    for field in scan.dataset.ground_truths:
        counts = class_counts(scan, field.name)
        if not counts or sheet.failed(GROUND_TRUTH, field.name):
            continue
        labels = labels_of(scan.dataset, field)
        row = (GROUND_TRUTH, field.name)
        _one_class(sheet, scan, row, counts, labels)
        _absent(sheet, scan, row, counts, labels)
        _uneven(sheet, scan, row, counts, labels)
        if not shown:
            shown = {
                name: {_class_name(number, labels): times for number, times in sorted(counter.items())}
                for name, counter in counts.items()
            }
    return shown


def _one_class(
    sheet: Sheet, scan: Scan, row: tuple[str, str], counts: Mapping[str, Counter[int]], labels: Sequence[str]
) -> None:
    for subset, counter in counts.items():
        if len(counter) > 1 or counter.total() < ENOUGH:
            continue
        name = _class_name(next(iter(counter)), labels)
        sheet.find(
            "binding-one-class",
            "error" if subset == TRAINING else "warning",
            f"Ground truth {row[1]!r} is {name!r} for every {subset} sample ({scan.share(subset)})",
            "Shuffle before you split: sorted files put one class into one subset.",
            row=row,
            subset=subset,
            evidence={"class": name, "samples": counter.total()},
        )


def _absent(
    sheet: Sheet, scan: Scan, row: tuple[str, str], counts: Mapping[str, Counter[int]], labels: Sequence[str]
) -> None:
    training = counts.get(TRAINING, Counter())
    # A class may be rare: that it is absent can be said of a subset that was read to its end, or nearly.
    if training.total() < ENOUGH or len(training) == 1:
        return
    others = {number: name for name, counter in counts.items() if name != TRAINING for number in counter}
    unseen = sorted(number for number in others if number not in training)
    never = [number for number in range(len(labels)) if number not in training and number not in unseen]
    told: list[tuple[str, str, str]] = []
    if unseen:
        subset = others[unseen[0]]
        names = listed([repr(_class_name(number, labels)) for number in unseen], MOST_NAMED)
        message = f"Class {names} of ground truth {row[1]!r} is in {subset}, but in no training sample"
        fix = "Split so that every class is in training (stratified), or leave the class out."
        told.append((message, fix, subset))
    if never:
        names = listed([repr(_class_name(number, labels)) for number in never], MOST_NAMED)
        message = f"Label {names} of ground truth {row[1]!r} is in no sample at all"
        fix = "Leave out labels that never occur, or look for their samples."
        told.append((message, fix, ""))
    for message, fix, subset in told:
        read = f"(read {scan.share(TRAINING)} of it)"
        sheet.find("binding-class-absent", "warning", f"{message} {read}", fix, row=row, subset=subset)


def _uneven(
    sheet: Sheet, scan: Scan, row: tuple[str, str], counts: Mapping[str, Counter[int]], labels: Sequence[str]
) -> None:
    training = counts.get(TRAINING, Counter())
    if len(training) < 2:
        return
    (most, times), (least, few) = training.most_common()[0], training.most_common()[-1]
    if training.total() < ENOUGH * len(training) or times < UNEVEN * few:
        return
    sheet.find(
        "binding-imbalance",
        "warning",
        f"Class {_class_name(most, labels)!r} of ground truth {row[1]!r} has {times:,} training samples, "
        f"{_class_name(least, labels)!r} only {few:,} (read {scan.share(TRAINING)})",
        "Weigh the loss or draw rare classes more often; accuracy alone will look better than it is.",
        row=row,
        subset=TRAINING,
        evidence={"largest": times, "smallest": few},
    )


def _class_name(number: int, labels: Sequence[str]) -> str:
    return labels[number] if 0 <= number < len(labels) else str(number)
