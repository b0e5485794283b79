"""Judges what each function returned on the samples that were looked at: failures, shapes, dtypes, numbers, labels."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cutaway.dataset.checks import Problem, Summary, is_missing
from cutaway.dataset.functions import MetadataField
from cutaway.dataset.subset import Scalar
from cutaway.evaluation.checks.looking import (
    GROUND_TRUTH,
    INPUT,
    METADATA,
    SampleCall,
    SampleFunction,
    function_of_column,
    succeeded,
)
from cutaway.evaluation.checks.sheet import Sheet
from cutaway.run.findings import Severity

__all__ = ["judge_constants", "judge_encoder", "judge_failures", "judge_metadata"]

# Fewer equal samples than this may be chance.
ENOUGH = 3
# Subsets whose values differ by more than this were hardly scaled alike.
SCALE = 50.0
MOST_SAMPLES = 5
MOSTLY = 0.5


def judge_failures(sheet: Sheet, asked: SampleFunction, seen: Sequence[SampleCall]) -> None:
    """Tell of the calls that raised or did not return, each cause once, with the first sample that shows it."""
    groups: dict[tuple[bool, str, str], list[SampleCall]] = {}
    for one in seen:
        if one.failure is not None:
            groups.setdefault((one.failure.late, one.failure.name, one.failure.place), []).append(one)
    for (late, name, place), failed in groups.items():
        row = (asked.kind, asked.name or name or "all")
        first = failed[0]
        assert first.failure is not None
        often = _how_many(failed, seen)
        message = f"{_the(*row)} failed for {first.sample!r}: {first.failure.reason.rstrip('.')}{often}"
        if late:
            fix = "Find out what it waits for (a download, a lock?), or allow more with `--timeout`."
        else:
            fix = "Repair that line" + (", or leave the sample out in preprocess." if succeeded(seen) else ".")
        sheet.find(
            "binding-timeout" if late else "binding-raises",
            "error",
            message,
            fix,
            row=row,
            subset=first.subset,
            sample=first.sample,
            place=place,
            evidence={"failed": len(failed), "called": len(seen), "samples": _samples(failed)},
        )


def judge_encoder(sheet: Sheet, asked: SampleFunction, seen: Sequence[SampleCall]) -> None:
    """Tell what is wrong with the arrays of an encoder: one against the others, and each for itself."""
    well = succeeded(seen)
    if not well:
        return
    first = well[0].summary
    assert first is not None
    sheet.row(*asked.row, shape=first.shape, dtype=first.dtype)
    _shapes(sheet, asked, well)
    _problems(sheet, asked, well)
    if asked.kind == INPUT:
        _blank(sheet, asked, well)
        _scales(sheet, asked, well)


def judge_metadata(sheet: Sheet, declared: Sequence[MetadataField], seen: Sequence[SampleCall]) -> None:
    """Tell of metadata that is missing, always the same, or of several types."""
    columns: dict[str, list[tuple[Scalar, SampleCall]]] = {}
    for one in succeeded(seen):
        for name, value in one.metadata.items():
            columns.setdefault(name, []).append((value, one))
    for field in declared:
        mine = {name: values for name, values in columns.items() if function_of_column(name, declared) == field.name}
        if not mine:
            if not sheet.failed(METADATA, field.name):
                failed = any(one.failure is not None for one in seen)
                sheet.skip(METADATA, field.name, "other metadata failed before it" if failed else "it gave no value")
            continue
        kinds = list(
            dict.fromkeys(_kind(value) for values in mine.values() for value, _ in values if value is not None)
        )
        sheet.row(METADATA, field.name, dtype=", ".join(kinds), note=_columns(field.name, mine))
        for name, values in mine.items():
            _column(sheet, (METADATA, field.name), name, values)


def _shapes(sheet: Sheet, asked: SampleFunction, seen: Sequence[SampleCall]) -> None:
    for code, word, attribute in (("binding-shape", "shape", "shape"), ("binding-dtype", "dtype", "dtype")):
        kinds: dict[Any, list[SampleCall]] = {}
        for one in seen:
            kinds.setdefault(getattr(one.summary, attribute), []).append(one)
        if len(kinds) < 2:
            continue
        usual, *others = sorted(kinds, key=lambda kind: -len(kinds[kind]))
        odd = kinds[others[0]]
        message = (
            f"{_the(*asked.row)} has the {word} {others[0]} for {odd[0].sample!r}, but {usual} for "
            f"{kinds[usual][0].sample!r}{_how_many(odd, seen, 'are so')}"
        )
        fix = (
            "All samples go into one batch: resize or pad them to one shape in the encoder."
            if code == "binding-shape"
            else f"End the encoder with `.astype(np.{usual})`."
        )
        sheet.find(
            code,
            "error",
            message,
            fix,
            row=asked.row,
            subset=odd[0].subset,
            sample=odd[0].sample,
            evidence={"usual": str(usual), "odd": [str(kind) for kind in others], "samples": _samples(odd)},
        )


def _problems(sheet: Sheet, asked: SampleFunction, seen: Sequence[SampleCall]) -> None:
    found: dict[str, list[tuple[Problem, SampleCall]]] = {}
    # Where several labels may hold, none may hold as well.
    several = asked.kind == GROUND_TRUTH and any(one.summary is not None and one.summary.several_labels for one in seen)
    for one in seen:
        assert one.summary is not None
        for problem in one.summary.problems:
            if not (several and (problem.code, problem.severity) == ("binding-label-values", "warning")):
                found.setdefault(problem.code, []).append((problem, one))
    for code, cases in found.items():
        problem, first = cases[0]
        often = _how_many([one for _, one in cases], seen, "are so")
        sheet.find(
            code,
            problem.severity,
            f"{_the(*asked.row)} of {first.sample!r}: {problem.message}{often}",
            problem.fix,
            row=asked.row,
            subset=first.subset,
            sample=first.sample,
            evidence={"cases": len(cases), "looked_at": len(seen), "samples": _samples([one for _, one in cases])},
        )


def judge_constants(sheet: Sheet, looked: Mapping[SampleFunction, Sequence[SampleCall]]) -> None:
    """Tell of inputs that are the same for all samples: an error where no input tells one sample from another.

    Beside an input that varies, one that does not may be meant: the token types of single sentences are all 0.
    """
    seen = {asked: succeeded(calls) for asked, calls in looked.items() if asked.kind == INPUT}
    constant = [asked for asked, calls in seen.items() if _is_constant(calls)]
    varying = [asked.name for asked, calls in seen.items() if len(calls) >= ENOUGH and asked not in constant]
    for asked in constant:
        calls = seen[asked]
        message = f"{_the(*asked.row)} is the same for all {len(calls)} samples that were looked at"
        if not varying:
            fix = "Use the index that the encoder is given: it seems to return one sample whatever is asked for."
            sheet.find("binding-constant", "error", message, fix, row=asked.row)
            continue
        # One value everywhere (token types, a mask without padding) can hardly be a sample that was meant to vary.
        plain = all(one.summary is not None and _has_one_value(one.summary) for one in calls)
        fix = f"If that is meant, leave it: {varying[0]!r} tells samples apart. Otherwise use the encoder's index."
        sheet.find("binding-constant", "info" if plain else "warning", message, fix, row=asked.row)


def _has_one_value(seen: Summary) -> bool:
    return seen.constant or math.prod(seen.shape) == 1


def _is_constant(seen: Sequence[SampleCall]) -> bool:
    return len(seen) >= ENOUGH and len({one.digest for one in seen}) == 1


def _blank(sheet: Sheet, asked: SampleFunction, seen: Sequence[SampleCall]) -> None:
    blank = [one for one in seen if one.summary is not None and one.summary.constant]
    # An input that is the same for all samples is judged beside the others.
    if blank and not _is_constant(seen):
        severity: Severity = "warning" if len(blank) > MOSTLY * len(seen) else "info"
        message = (
            f"{_the(*asked.row)} of {blank[0].sample!r} has one value everywhere{_how_many(blank, seen, 'are so')}"
        )
        fix = "Look at these samples: an empty image is often a file that could not be read."
        sheet.find(
            "binding-constant",
            severity,
            message,
            fix,
            row=asked.row,
            sample=blank[0].sample,
            evidence={"samples": _samples(blank)},
        )


def _scales(sheet: Sheet, asked: SampleFunction, seen: Sequence[SampleCall]) -> None:
    largest: dict[str, list[float]] = {}
    for one in seen:
        if one.summary is not None and one.summary.largest > 0:
            largest.setdefault(one.subset, []).append(one.summary.largest)
    typical = {name: statistics.median(values) for name, values in largest.items() if len(values) >= ENOUGH}
    if len(typical) < 2:
        return
    low, high = min(typical, key=lambda name: typical[name]), max(typical, key=lambda name: typical[name])
    if typical[high] > SCALE * typical[low]:
        message = (
            f"{_the(*asked.row)} is scaled differently: its largest value is typically {typical[low]:.4g} in {low}, "
            f"but {typical[high]:.4g} in {high}"
        )
        fix = "Scale every subset in the same way, in the encoder."
        sheet.find("binding-range-differs", "warning", message, fix, row=asked.row, subset=high, evidence=typical)


def _column(sheet: Sheet, row: tuple[str, str], name: str, values: Sequence[tuple[Scalar, SampleCall]]) -> None:
    missing = [one for value, one in values if is_missing(value)]
    present = [value for value, _ in values if not is_missing(value)]
    if missing:
        severity: Severity = "warning" if len(missing) > MOSTLY * len(values) else "info"
        message = (
            f"Metadata {name!r} is missing for {len(missing)} of {len(values)} samples, first {missing[0].sample!r}"
        )
        fix = "If that is meant, leave it: missing values are kept as missing."
        evidence = {"missing": len(missing), "looked_at": len(values), "samples": _samples(missing)}
        sheet.find(
            "binding-missing-values", severity, message, fix, row=row, sample=missing[0].sample, evidence=evidence
        )
    kinds = Counter(_kind(value) for value in present)
    if len(kinds) > 1 and set(kinds) != {"int", "float"}:
        told = ", ".join(f"{kind} {times}x" for kind, times in kinds.most_common())
        message = f"Metadata {name!r} has values of several types: {told}"
        fix = "Return one type, or declare it: `metadata_type=DatasetMetadataType.string`."
        sheet.find("binding-metadata-type", "warning", message, fix, row=row, evidence=dict(kinds))
    elif len(present) >= ENOUGH * ENOUGH and len(set(present)) == 1:
        message = f"Metadata {name!r} is {present[0]!r} for all {len(present)} samples that were looked at"
        fix = "If it is so for all samples, it tells nothing: leave it out."
        sheet.find("binding-metadata-constant", "info", message, fix, row=row)


def _columns(name: str, columns: Mapping[str, object]) -> str:
    return "" if list(columns) == [name] else ", ".join(columns)


def _kind(value: Scalar) -> str:
    return "text" if isinstance(value, str) else type(value).__name__


def _the(kind: str, name: str) -> str:
    return f"{kind.capitalize()} {name!r}"


def _how_many(some: Sequence[SampleCall], seen: Sequence[SampleCall], verb: str = "failed") -> str:
    return "" if len(some) < 2 else f" ({len(some)} of {len(seen)} samples {verb})"


def _samples(seen: Sequence[SampleCall]) -> list[str]:
    return [one.sample for one in seen[:MOST_SAMPLES]]
