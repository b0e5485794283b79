"""Samples with identical inputs: across subsets they are a leak, within one they are duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from cutaway.dataset.enums import DataStateType
from cutaway.evaluation.checks.scanning import Scan, Scanned
from cutaway.evaluation.checks.sheet import Sheet
from cutaway.run.findings import Severity

__all__ = ["SPLIT", "judge_leakage"]

SPLIT = ("data set", "split")
# A few twins happen in every collected data set; from this share on the split itself is at fault.
SERIOUS = 0.01


def judge_leakage(sheet: Sheet, scan: Scan) -> None:
    """Tell of inputs that lie in two subsets, that lie in one twice, and that have two different classes."""
    contents = {name: _by_content(rows) for name, rows in scan.samples.items()}
    for first, second in combinations(contents, 2):
        _leak(sheet, scan, first, second, contents)
    for name, groups in contents.items():
        _duplicates(sheet, scan, name, groups)
    _conflicts(sheet, scan, contents)


def _by_content(rows: Sequence[Scanned]) -> dict[bytes, list[Scanned]]:
    groups: dict[bytes, list[Scanned]] = {}
    for row in rows:
        if row.content:
            groups.setdefault(row.content, []).append(row)
    return groups


def _leak(sheet: Sheet, scan: Scan, first: str, second: str, contents: dict[str, dict[bytes, list[Scanned]]]) -> None:
    both = [content for content in contents[first] if content in contents[second]]
    if not both:
        return
    here, there = contents[first][both[0]][0], contents[second][both[0]][0]
    leaked = sum(len(contents[second][content]) for content in both)
    # Of a part of the first subset only that part of the twins can be found.
    read = len(scan.samples[first]) / len(scan.dataset.subsets[first])
    share = min(leaked / len(scan.samples[second]) / read, 1.0)
    one, other = scan.sample(first, here), scan.sample(second, there)
    message = (
        f"{leaked:,} of {len(scan.samples[second]):,} {second} samples {'has' if leaked == 1 else 'have'} the very "
        f"inputs of {first} samples, first {other!r} and {one!r} (compared {scan.share(first, second)})"
    )
    severity: Severity = "error" if share >= SERIOUS else "warning"
    if DataStateType.unlabeled in (first, second):
        severity = "info"  # unlabelled samples are often the very ones that somebody labelled later
    sheet.find(
        "binding-leak",
        severity,
        message,
        "Split by what is unique (file, patient, scene) before anything else, and drop duplicates first.",
        row=SPLIT,
        subset=second,
        sample=other,
        evidence={"leaked": leaked, "share": share, "compared": scan.compared, "twin": one},
    )


def _duplicates(sheet: Sheet, scan: Scan, name: str, groups: dict[bytes, list[Scanned]]) -> None:
    twice = [rows for rows in groups.values() if len(rows) > 1]
    if not twice:
        return
    spare = sum(len(rows) - 1 for rows in twice)
    one, other = (scan.sample(name, row) for row in sorted(twice[0], key=lambda row: row.index)[:2])
    message = (
        f"{spare:,} {name} {'sample repeats' if spare == 1 else 'samples repeat'} the inputs of another, "
        f"first {one!r} and {other!r} "
        f"(compared {scan.share(name)})"
    )
    sheet.find(
        "binding-duplicates",
        "info",
        message,
        "Drop them where they are no intended repetition: they count twice in every average.",
        row=SPLIT,
        subset=name,
        sample=one,
        evidence={"duplicates": spare},
    )


def _conflicts(sheet: Sheet, scan: Scan, contents: dict[str, dict[bytes, list[Scanned]]]) -> None:
    named: dict[bytes, list[tuple[str, Scanned]]] = {}
    for subset, groups in contents.items():
        for content, rows in groups.items():
            named.setdefault(content, []).extend((subset, row) for row in rows)
    torn = [
        rows
        for rows in named.values()
        if len({tuple(sorted(row.classes.items())) for _, row in rows if row.classes}) > 1
    ]
    if not torn:
        return
    told = [(subset, row) for subset, row in torn[0] if row.classes]
    (a, first), (b, second) = told[0], next(one for one in told if one[1].classes != told[0][1].classes)
    one, other = scan.sample(a, first), scan.sample(b, second)
    message = (
        f"{len(torn):,} {'input has' if len(torn) == 1 else 'inputs have'} two different classes, "
        f"first {one!r} {_classes(first)} and {other!r} {_classes(second)}"
    )
    sheet.find(
        "binding-conflict",
        "warning",
        message,
        "At least one of each two labels is wrong: look at them.",
        row=SPLIT,
        subset=a,
        sample=one,
        evidence={"conflicts": len(torn), "twin": other},
    )


def _classes(row: Scanned) -> str:
    return f"({', '.join(f'{name}: {number}' for name, number in row.classes.items())})"
