"""Turns what the workers answered into rows. Pure: no clock, no files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.figures import Bar, Estimate, Side, Verdict, median_interval, verdict
from benchmarks.results import Answer, StoreRow

__all__ = ["memory_row", "overlap_row", "speed_row"]

SPEED = Bar(0.9, Side.AT_LEAST)
MEMORY = Bar(200, Side.AT_MOST)
# float32 in another order of operations; a copy in another process must not differ by more.
CLOSE = 1e-5
LEAST_BATCH_MS = 10.0


def speed_row(label: str, answer: Answer) -> StoreRow:
    """Samples a second of `evaluate` over those of the bare framework."""
    bare, ours = (np.asarray(answer[name], np.float64) for name in ("bare", "ours"))
    estimate = median_interval(bare / ours)
    samples = answer["samples"]
    figures = (
        f"{samples / float(np.median(ours)):,.0f} of {samples / float(np.median(bare)):,.0f} samples/s, "
        f"batch {answer['batch_ms']:.1f} ms, error {answer['error']:.0e}, {answer['failed']} failed"
    )
    problems = []
    if answer["rows"] != samples or answer["failed"]:
        problems.append(f"{answer['rows']} rows of {samples}, {answer['failed']} failed")
    if not answer["error"] <= CLOSE:
        problems.append(f"predictions differ by {answer['error']:.1e}")
    if answer["batch_ms"] < LEAST_BATCH_MS:
        problems.append(f"a batch takes {answer['batch_ms']:.1f} ms, and the bar is for {LEAST_BATCH_MS:g} and more")
    row = StoreRow("speed", label, figures, estimate, SPEED, verdict(estimate, SPEED), tuple(problems))
    return replace(row, verdict=Verdict.VOID) if problems else row


def overlap_row(answer: Answer) -> StoreRow:
    """How much faster than encoding and predicting one after the other."""
    serial, ours = (np.asarray(answer[name], np.float64) for name in ("serial", "ours"))
    figures = f"{np.median(ours):.1f} s for {np.median(serial):.1f} s, {answer['failed']} failed"
    return StoreRow("overlap", "slow encoder, 2 threads", figures, median_interval(serial / ours), None, Verdict.NO_BAR)


def memory_row(small: Answer, large: Answer) -> StoreRow:
    """How much more memory ten times the samples take."""
    more = large["peak_mb"] - small["peak_mb"]
    estimate = Estimate(more, more, more)
    rates = " and ".join(f"{one['samples'] / one['seconds']:,.0f}/s" for one in (small, large))
    figures = f"peak {small['peak_mb']:.0f} and {large['peak_mb']:.0f} MB, {rates}"
    label = f"MB more at {large['samples']:,} than at {small['samples']:,} samples"
    problems = tuple(
        f"{one['rows']} rows of {one['samples']}" for one in (small, large) if one["rows"] != one["samples"]
    )
    judged = Verdict.VOID if problems else verdict(estimate, MEMORY)
    return StoreRow("memory", label, figures, estimate, MEMORY, judged, problems)
