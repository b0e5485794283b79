"""Reads a person's own decisions from a CSV file: sample, action, label, weight. Refuses what it cannot be sure of.

Every cell is compared with what there is, and goes nowhere else: an unknown sample, action or class is refused with
its line, so that nothing in a file that came by mail is carried further.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cutaway.analysis.fixing.choosing import ACTIONS, Choice, Decision
from cutaway.errors import ConfigurationError, did_you_mean

__all__ = ["read_decisions"]

# A file of decisions about a million samples; a larger one is something else.
MOST_BYTES = 200 << 20
MOST_PROBLEMS = 5
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def read_decisions(path: str | Path, labels: Mapping[str, str | None], classes: Sequence[str]) -> Choice:
    """Return the decisions in a CSV file about samples whose present labels are given.

    It has the columns `sample` and `action`, `label` for `relabel` and `weight` for `reweight`; others are ignored,
    and lines without an action are not decided. Raises `ConfigurationError` with the lines that are wrong.
    """
    file = Path(path).expanduser()
    decisions: list[Decision] = []
    problems: list[str] = []
    lines = 0
    seen: dict[str, int] = {}
    for line, row in _rows(file):
        lines += 1
        if not row.get("action", "").strip():
            continue
        try:
            one = _decision(row, labels, classes)
        except ValueError as error:
            problems.append(f"line {line}: {error}")
            continue
        if one.sample in seen:
            problems.append(f"line {line}: {one.sample} is decided in line {seen[one.sample]} already")
        seen.setdefault(one.sample, line)
        decisions.append(one)
    if problems:
        shown = "; ".join(problems[:MOST_PROBLEMS])
        more = f"; and {len(problems) - MOST_PROBLEMS} more" if len(problems) > MOST_PROBLEMS else ""
        raise ConfigurationError(
            f"{file.name!r} cannot be used: {shown}{more}.", hint="Mend these lines; nothing was written."
        )
    return Choice(tuple(decisions), lines)


def _rows(file: Path) -> Iterable[tuple[int, dict[str, str]]]:
    try:
        if file.stat().st_size > MOST_BYTES:
            raise ConfigurationError(
                f"{file.name!r} has {file.stat().st_size:,} bytes, which no file of decisions has."
            )
        with file.open(encoding="utf-8-sig", newline="") as text:
            reader = csv.DictReader(text, strict=True)
            missing = [name for name in ("sample", "action") if name not in (reader.fieldnames or ())]
            if missing:
                raise ConfigurationError(
                    f"{file.name!r} lacks the column {' and '.join(map(repr, missing))}.",
                    hint="Columns are sample, action, label, weight.",
                )
            for row in reader:
                yield reader.line_num, {str(name): value for name, value in row.items() if isinstance(value, str)}
    except OSError as error:
        raise ConfigurationError(f"Cannot read {str(file)!r}: {error.strerror or error}.", path=file) from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{file.name!r} is no CSV file in UTF-8: {error}.") from error


def _decision(row: Mapping[str, str], labels: Mapping[str, str | None], classes: Sequence[str]) -> Decision:
    """Return what a line says. Raises `ValueError` with what is wrong with it."""
    sample = _known("sample", row["sample"], labels)
    action = _known("action", row["action"].strip(), ACTIONS)
    if action == "relabel":
        label = _known("label", row.get("label", ""), classes)
        if labels[sample] is None:
            raise ValueError(f"{sample} has no label that could be changed")
        return Decision(sample, action, label=label)
    if action == "reweight":
        text = row.get("weight", "").strip()
        try:
            weight = float(text)
        except ValueError:
            weight = math.nan
        if not (math.isfinite(weight) and weight >= 0):
            raise ValueError(f"a weight must be a number from 0 on, but it is {_shown(text)}")
        return Decision(sample, action, weight=weight)
    return Decision(sample, action)


def _known(what: str, text: str, known: Iterable[str]) -> str:
    there = known if isinstance(known, Mapping) else list(known)
    # Exports put a quote before what a spreadsheet would take for a formula.
    plain = text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text
    for one in (text, plain):
        if one in there:
            return one
    hint = did_you_mean(text[:100], list(there)[:1000]).strip()
    raise ValueError(f"there is no {what} {_shown(text)}{f' ({hint[0].lower()}{hint[1:]})' if hint else ''}")


def _shown(text: str) -> str:
    """Return a cell as it may stand in a message: short, and without what could steer a terminal."""
    return repr(text if len(text) <= 60 else f"{text[:57]}...")
