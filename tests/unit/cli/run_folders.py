"""Writes real run folders, as a hook writes them, for the commands to look at."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from cutaway.run import Run, WriterId

TENSORS = (
    "Net_conv1.weight",
    "Net_conv1.bias",
    "Net_fc.weight",
    "gradient/Net_conv1.weight",
    "gradient/Net_fc.weight",
    "CrossEntropyLoss_output_0",
)


def statistics_row(name: str, step: int, *, nonfinite: int = 0) -> dict[str, Any]:
    size = 1 if "Loss" in name else 72
    value = 2.0 / (1 + step) if "Loss" in name else 0.01 * (1 + step)
    finite = size - nonfinite
    numbers = dict.fromkeys(("min", "max", "mean", "std", "l1", "l2", "abs_min"), math.nan)
    if finite:
        numbers = {
            "min": -value if size > 1 else value,
            "max": value,
            "mean": value if size == 1 else value / 10,
            "std": value / 2 if size > 1 else 0.0,
            "l1": value * finite,
            "l2": value * math.sqrt(finite),
            "abs_min": 0.0,
        }
    return {
        "step": step,
        "tensor": name,
        "size": size,
        "nonfinite": nonfinite,
        "zeros": 18 if size > 1 else 0,
        **numbers,
    }


def write_steps(
    run: Run,
    steps: Sequence[int],
    *,
    attempt: int = 0,
    worker: str = "worker_0",
    names: Sequence[str] = TENSORS,
    modes: Callable[[int], str] = lambda _: "TRAIN",
    nonfinite: Callable[[str, int], int] = lambda *_: 0,
    thinned: Callable[[int], int] = lambda _: 0,
    close: bool = True,
) -> None:
    """Write steps with their statistics and scalars, one batch each, as a hook does."""
    who = WriterId("train", worker, attempt)
    tables = {name: run.writer(name, who) for name in ("trace/steps", "trace/statistics", "scalars")}
    for step in steps:
        mode = modes(step)
        tables["trace/steps"].append_rows(
            {
                "step": [step],
                "mode": [mode],
                "mode_step": [step],
                "epoch": [step // 10],
                "time": [1.7e9 + step],
                "statistics": [True],
                "thinned": [thinned(step)],
            },
            step,
        )
        rows = [statistics_row(name, step, nonfinite=nonfinite(name, step)) for name in names]
        if rows:
            tables["trace/statistics"].append_rows({key: [row[key] for row in rows] for key in rows[0]}, step)
        scalars = {"loss": 2.0 / (1 + step), "learning_rate": 0.1}
        tables["scalars"].append_rows(
            {
                "name": list(scalars),
                "step": [step] * 2,
                "mode": [mode] * 2,
                "value": list(scalars.values()),
                "time": [1.7e9 + step] * 2,
            },
            step,
        )
    for table in tables.values():
        table.close() if close else table.abandon()
