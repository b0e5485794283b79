"""Measures the tensor store: how fast full tensors are written, and one small tensor read over many steps.

The writing goes through the same hook as in training, over a module that does nothing but hold weights; the yardstick
beside it is one gathered `write` of the same bytes a step, alternating with it in the same process.
"""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.adapters import Tool, load
from benchmarks.cases import Mode
from benchmarks.machine import touch_pages
from benchmarks.models import Shelf, log_spaced

# 60 float32 tensors from 1 KB to 4 MB: 31.9 MB a step.
WRITE_SIZES = log_spaced(256, 1024 * 1024, 60)
WRITE_STEPS = 24
# A writer behind a queue thins when it is driven faster than it writes; waiting for it every few steps (fewer than
# the queue holds) makes this a measurement of writing and not of thinning.
FLUSH_EVERY = 4
# As many tensors, from 1 KB to 16 KB: 325 KB a step, so that a thousand steps fit the page cache. The smallest is read.
SERIES_SIZES = log_spaced(256, 4 * 1024, 60)
SERIES_NAME = "slot00.weight"
MEGABYTE = 1e6


@dataclass(frozen=True)
class WriteRates:
    """Megabytes a second by the tool and by a plain gathered write, one of each a repeat."""

    tool: list[float]
    plain: list[float]
    expected_steps: int
    recorded_steps: int


@dataclass(frozen=True)
class SeriesTimes:
    """Seconds to open a run, then to read one small tensor step by step, one of each a repeat.

    `at_once` is the tool's own call for all steps of a tensor, opening included; empty if it has none.
    """

    steps: int
    opening: list[float]
    reading: list[float]
    at_once: list[float]
    correct: bool


def measure_writes(name: str, scratch: Path, *, repeats: int, steps: int = WRITE_STEPS) -> WriteRates:
    """Alternate the tool's writing and plain writing of the same bytes."""
    tool_rates: list[float] = []
    plain_rates: list[float] = []
    recorded = 0
    for repeat in range(repeats + 1):
        folder = scratch / f"write-{repeat}"
        shelf = Shelf(WRITE_SIZES)  # a new one each time: closing smdebug's hook leaves it on the module
        step_bytes = _step_bytes(shelf)
        plain = _plain_seconds(shelf, scratch / "plain", steps)
        tool = load(name, Mode.TENSORS)
        seconds = _write_steps(tool, shelf, folder, steps)
        found = tool.recorded_steps(folder)
        shutil.rmtree(folder)
        if repeat == 0:  # the first pass pays for imports and for this process's own memory
            continue
        # Only what can be read back counts as written.
        tool_rates.append(found * step_bytes / seconds / MEGABYTE)
        plain_rates.append(steps * step_bytes / plain / MEGABYTE)
        recorded += found
    return WriteRates(tool_rates, plain_rates, repeats * steps, recorded)


def measure_series(name: str, scratch: Path, *, repeats: int, steps: int) -> SeriesTimes:
    """Write `steps` steps, then read one small tensor at all of them, opening the run anew each time."""
    shelf = Shelf(SERIES_SIZES)
    folder = scratch / "series"
    _write_steps(load(name, Mode.TENSORS), shelf, folder, steps)
    tool = load(name, Mode.TENSORS)
    truth = dict(shelf.named_parameters())[SERIES_NAME].detach().numpy()
    opening: list[float] = []
    reading: list[float] = []
    at_once: list[float] = []
    correct = True
    for repeat in range(repeats + 1):
        begin = time.perf_counter()
        everything = tool.read_all(folder, SERIES_NAME)
        seconds = time.perf_counter() - begin
        series = tool.read_series(folder, SERIES_NAME, range(steps))
        for values in (series.values, everything):
            correct &= values is None or (len(values) == steps and all(np.array_equal(one, truth) for one in values))
        if repeat == 0:  # the first pass may still import what the reader needs
            continue
        opening.append(series.opening)
        reading.append(series.reading)
        if everything is not None:
            at_once.append(seconds)
    shutil.rmtree(folder)
    return SeriesTimes(steps, opening, reading, at_once, correct)


def measure_scalars(name: str, scratch: Path, *, calls: int) -> list[float]:
    """Microseconds of each `save_scalar`."""
    tool = load(name, Mode.STATISTICS)
    folder = scratch / "scalars"
    shelf = Shelf([16])
    tool.attach_shelf(shelf, folder)
    shelf.step()
    times: list[float] = []
    for step in range(calls):
        begin = time.perf_counter_ns()
        tool.save_scalar("accuracy", 0.5 + step, step)
        times.append((time.perf_counter_ns() - begin) / 1e3)
    tool.close()
    shutil.rmtree(folder)
    return times


def _write_steps(tool: Tool, shelf: Shelf, folder: Path, steps: int) -> float:
    """Seconds of all steps, each few with the flush after them; attaching and closing are not counted."""
    tool.attach_shelf(shelf, folder)
    step = tool.shelf_step(shelf)
    seconds = 0.0
    # All of it twice over: a writer on the other core takes other pages than those that were touched last.
    touch_pages(folder.parent, 2 * steps * _step_bytes(shelf))
    for few in _chunks(steps):
        touch_pages(folder.parent, few * _step_bytes(shelf))
        begin = time.perf_counter()
        for _ in range(few):
            step()
        tool.flush()
        seconds += time.perf_counter() - begin
    tool.close()
    return seconds


def _plain_seconds(shelf: Shelf, path: Path, steps: int) -> float:
    """Seconds to write the same bytes with one gathered write a step."""
    buffers = [parameter.detach().numpy().data.cast("B") for parameter in shelf.parameters()]
    total = _step_bytes(shelf)
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    seconds = 0.0
    touch_pages(path.parent, 2 * steps * total)
    try:
        for few in _chunks(steps):
            touch_pages(path.parent, few * total)
            begin = time.perf_counter()
            for _ in range(few):
                written = os.writev(descriptor, buffers)
                if written != total:
                    message = f"A write of {total} bytes wrote {written}. Is the disk full? Give --scratch another."
                    raise OSError(message)
            seconds += time.perf_counter() - begin
    finally:
        os.close(descriptor)
        path.unlink()
    return seconds


def _chunks(steps: int) -> list[int]:
    """`steps` in parts of at most FLUSH_EVERY."""
    return [min(FLUSH_EVERY, steps - done) for done in range(0, steps, FLUSH_EVERY)]


def _step_bytes(shelf: Shelf) -> int:
    return sum(parameter.numel() * parameter.element_size() for parameter in shelf.parameters())
