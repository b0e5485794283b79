"""The measurements, one function each: plain numbers out, no bars."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks.studio import conditions, made_runs
from benchmarks.studio.blank_page import build_blank_page
from benchmarks.studio.browsing import Browsing
from benchmarks.studio.servers import Server, serve_folder, serve_studio, serve_tensorboard
from cutaway.studio.serving import page as the_page
from scripts.page_weight import page_weights

__all__ = ["curves", "live", "memory", "overview", "paint", "run_ids", "runs", "script_kilobytes"]

Answer = dict[str, Any]
WARMING = 2


def paint(browsing: Browsing, scratch: Path, turns: int) -> Answer:
    """A run's page beside an empty one, in turn."""
    made_runs.demo_like_run(scratch / "runs" / "demo")
    blank_folder = build_blank_page(scratch / "blank")
    with serve_studio(scratch / "runs", scratch / "cache") as studio, serve_folder(blank_folder) as blank:
        address = f"{studio.url}/runs/{run_ids(studio)[0]}"
        found: dict[str, list[float]] = {"ours": [], "blank": []}
        for turn in range(turns + WARMING):
            ours = browsing.milliseconds(address, conditions.CURVE)
            empty = browsing.milliseconds(blank.url, conditions.BLANK)
            if turn >= WARMING:
                found["ours"].append(ours)
                found["blank"].append(empty)
    return found


def curves(browsing: Browsing, scratch: Path, turns: int, steps: int) -> Answer:
    """The first curve of the same scalars, here and in TensorBoard, both servers warm."""
    ours, theirs = scratch / "runs" / "scalars", scratch / "events"
    made_runs.scalars_for_both(ours, theirs, steps)
    with serve_studio(scratch / "runs", scratch / "cache") as studio, serve_tensorboard(theirs) as board:
        address = f"{studio.url}/runs/{run_ids(studio)[0]}"
        found: dict[str, list[float]] = {"ours": [], "theirs": []}
        for turn in range(turns + WARMING):
            one = browsing.milliseconds(address, conditions.CURVE)
            other = browsing.milliseconds(board.url, conditions.TENSORBOARD)
            if turn >= WARMING:
                found["ours"].append(one)
                found["theirs"].append(other)
    return {**found, "steps": steps, "series": made_runs.SERIES}


def overview(browsing: Browsing, scratch: Path, turns: int, steps: int) -> Answer:
    """The stripes of 2,000 tensors; the first visit after the server's start is told apart."""
    begin = time.monotonic()
    tensors = made_runs.large_run(scratch / "runs" / "large", steps)
    made = time.monotonic() - begin
    first, later, memory_mb = [], [], 0.0
    for _ in range(max(1, turns // 3)):
        with serve_studio(scratch / "runs", scratch / "cache") as studio:
            address = f"{studio.url}/runs/{run_ids(studio)[0]}/tensors"
            first.append(browsing.milliseconds(address, conditions.STRIPES))
            later += [browsing.milliseconds(address, conditions.STRIPES) for _ in range(3)]
            memory_mb = max(memory_mb, studio.memory_mb())
    return {"first": first, "later": later, "tensors": tensors, "steps": steps, "made": made, "memory_mb": memory_mb}


def runs(browsing: Browsing, scratch: Path, turns: int, count: int) -> Answer:
    """Thousands of runs: the first index, then the table from a warm cache until it answers a click on a column."""
    folder, cache = scratch / "runs", scratch / "cache"
    folder.mkdir(parents=True)
    made_runs.copy_runs(folder, count)
    with serve_studio(folder, cache) as studio:
        indexed = _indexed(studio, count)
    found: dict[str, list[float]] = {"start": [], "table": [], "sorted": []}
    for _ in range(max(1, turns // 3)):
        begin = time.monotonic()
        with serve_studio(folder, cache) as studio:
            _indexed(studio, count)
            found["start"].append(time.monotonic() - begin)
            for _ in range(3):
                with browsing.visit(f"{studio.url}/runs", conditions.RUNS) as (page, shown):
                    was = page.evaluate(conditions.FIRST_ROW)
                    act = "() => document.querySelector('th button').click()"
                    changed = f"() => (({conditions.FIRST_ROW})() !== {json.dumps(was)})"
                    found["table"].append(shown)
                    found["sorted"].append(shown + browsing.milliseconds_until(page, act, changed))
    return {**found, "runs": count, "indexed": indexed}


def memory(browsing: Browsing, scratch: Path, loads: int) -> Answer:
    """The server's memory after a tenth of so many page loads, and after all of them."""
    made_runs.demo_like_run(scratch / "runs" / "demo")
    with serve_studio(scratch / "runs", scratch / "cache") as studio:
        run = run_ids(studio)[0]
        pages = [f"{studio.url}/runs", f"{studio.url}/runs/{run}", f"{studio.url}/runs/{run}/tensors"]
        early = 0.0
        for number in range(loads):
            browsing.milliseconds(pages[number % len(pages)], "() => document.querySelector('h1') !== null")
            if number + 1 == loads // 10:
                early = studio.memory_mb()
        return {"early": early, "late": studio.memory_mb(), "loads": loads}


def live(browsing: Browsing, scratch: Path, seconds: float) -> Answer:
    """How long after a step was written the page of its run says so."""
    folder = scratch / "runs"
    folder.mkdir(parents=True)
    job = f"from benchmarks.studio.made_runs import training; training({str(folder / 'live')!r}, 2, {seconds})"
    process = subprocess.Popen([sys.executable, "-c", job], stdout=subprocess.PIPE, text=True)
    late: list[float] = []
    with serve_studio(folder, scratch / "cache") as studio:
        ids: list[str] = []
        while not ids:
            time.sleep(0.3)
            ids = run_ids(studio)
        with browsing.visit(f"{studio.url}/runs/{ids[0]}", f"() => ({conditions.STEPS})() > 0") as (page, _):
            opened = time.time()
            for line in process.stdout or ():
                said = json.loads(line)
                browsing.milliseconds_until(page, "() => {}", f"() => ({conditions.STEPS})() > {said['step']}")
                # What was written before the page was opened says nothing.
                if said["time"] > opened:
                    late.append(time.time() - said["time"])
    process.wait()
    return {"seconds": late}


def script_kilobytes() -> tuple[float, float]:
    """What the JavaScript of the heaviest page of a run weighs, and all of it, compressed as a server would."""
    assets = Path(the_page.__file__).parent / "static" / "assets"
    everything = sum(len(gzip.compress(path.read_bytes(), 9)) for path in assets.glob("*.js"))
    return max(page_weights(assets).values()) / 1000, everything / 1000


def run_ids(studio: Server) -> list[str]:
    """The ids of the runs that a studio lists, the first ten."""
    query = urllib.parse.urlencode({"limit": 10})
    with urllib.request.urlopen(f"{studio.url}/api/runs?{query}") as answer:
        return [row["id"] for row in json.load(answer)["data"]]


def _indexed(studio: Server, count: int) -> float:
    """Wait until every run is listed, and return the seconds."""
    begin = time.monotonic()
    while True:
        with urllib.request.urlopen(f"{studio.url}/api/about") as answer:
            about = json.load(answer)["data"]
        if about["runs"] >= count and about["indexing"]["done"] >= about["indexing"]["total"]:
            return time.monotonic() - begin
        time.sleep(0.02)
