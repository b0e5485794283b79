"""How many planted slices are found, and how often slices are found where there are none. Plain results; no report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.labels.tables import clean_table, found_planted, planted_table

__all__ = ["CLEAN", "TABLES", "run_clean", "run_planted", "run_slices"]

TABLES = 20
CLEAN = 100


def run_planted(seed: int, **kind: Any) -> dict[str, Any]:
    """Look for the slices that were planted in one table; `kind` is passed to `planted_table`."""
    from cutaway.analysis.slices import find_slices

    planted = planted_table(seed, **kind)
    begin, busy = time.perf_counter(), time.process_time()
    result = find_slices(planted.table, planted.wrong)
    seconds, busy = time.perf_counter() - begin, time.process_time() - busy
    found, off = found_planted(planted.slices, [one.rows for one in result])
    figures = {"planted": len(planted.slices), "found": found, "reported": len(result), "off_target": off}
    return {"seed": seed, **kind, **figures, "tested": result.tested, "seconds": seconds, "cpu_seconds": busy}


def run_clean(seed: int) -> dict[str, Any]:
    """Look for slices where there are none; every second table has losses with heavy tails."""
    from cutaway.analysis.slices import find_slices

    heavy = seed % 2 == 1
    table, outcome = clean_table(seed, heavy=heavy)
    begin = time.perf_counter()
    false = len(find_slices(table, outcome))
    return {"seed": seed, "heavy": heavy, "false": false, "seconds": time.perf_counter() - begin}


def run_slices(
    told: Callable[[str], None], tables: Iterable[int] = range(TABLES), clean: Iterable[int] = range(CLEAN)
) -> dict[str, list[dict[str, Any]]]:
    """Return a row for each planted table, of both ways to combine overlapping slices, and for each clean one."""
    results: dict[str, list[dict[str, Any]]] = {"planted": [], "clean": []}
    for combining in ("add", "worst"):
        for seed in tables:
            row = run_planted(seed, combining=combining)
            told(f"planted {seed} ({combining}): {row['found']} of {row['planted']}, {row['off_target']} off target")
            results["planted"].append(row)
    for seed in clean:
        row = run_clean(seed)
        told(f"clean {seed}: {row['false']} false")
        results["clean"].append(row)
    return results
