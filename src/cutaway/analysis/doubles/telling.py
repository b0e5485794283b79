"""Duplicates in words: the reason of each, and what they are together. Finds nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["reason_of", "words_about"]


def reason_of(row: Mapping[str, Any], times: float) -> str:
    """Say why a sample is a duplicate, and what to do; `row` is its row of the table, `times` nearer than usual."""
    other = row["other"]
    if row["kind"] == "exact":
        why = f"Same content as {other}."
    elif np.isinf(times):
        why = f"Same latent vector as {other}."
    else:
        why = f"Nearly the same as {other}: {times:.0f} times nearer than further neighbours of both."
    mine, its = row.get("label"), row.get("other_label")
    if mine is not None and its is not None and mine != its:
        return f"{why} But this is labelled {mine}, that {its}: one is wrong, so look at both before one goes."
    if row["subset"] != row["other_subset"]:
        return f"{why} It is in {row['subset']} and in {row['other_subset']}: keep {other}, drop this."
    return f"{why} Keep {other}, drop this."


def words_about(table: pa.Table) -> tuple[str, ...]:
    """Say how many duplicates there are, and which are worst."""
    total = table.num_rows
    if not total:
        return ("No sample is there twice: no two have the same content, or lie nearer than chance puts them.",)
    exact = int(pc.sum(pc.equal(table["kind"], "exact")).as_py())
    groups = len(pc.unique(table["group"]))
    kinds = " and ".join(
        text for count, text in ((exact, f"{exact:,} exact"), (total - exact, f"{total - exact:,} near")) if count
    )
    words = [
        f"{total:,} {'sample is' if total == 1 else 'samples are'} there twice, in {groups:,} "
        f"{'group' if groups == 1 else 'groups'} ({kinds}). Of each group one is enough."
    ]
    conflicts = _conflicts(table)
    if conflicts:
        have = "duplicate has" if conflicts == 1 else "duplicates have"
        words.insert(0, f"{conflicts:,} {have} another label than the sample it is a copy of: one of the two is wrong.")
    across = int(pc.sum(pc.not_equal(table["subset"], table["other_subset"])).as_py() or 0)
    if across:
        words.append(f"{across:,} of them {'lies' if across == 1 else 'lie'} across two subsets.")
    return tuple(words)


def _conflicts(table: pa.Table) -> int:
    if "label" not in table.column_names:
        return 0
    return int(pc.sum(pc.not_equal(table["label"], table["other_label"])).as_py() or 0)
