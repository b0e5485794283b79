"""Measures the page of a sample on the demo's own run: from a click until its panels are painted. No bars."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks.studio.browsing import Browsing, PageFailed
from benchmarks.studio.servers import Server, serve_studio

__all__ = ["measure_sample"]

Answer = dict[str, Any]
WARMING = 2
RUN = "demo_labels"
# So long nothing happens between two clicks: a person looks.
LOOKING_MS = 400
READY = "() => document.querySelector('[role=status] .dot.ready') !== null"
# A sample's panels are pale until they are its own; the pictures are there when each has its pixels.
SIMILARS = """() => {
  const grid = document.querySelector("#sample-similar")?.closest("section").querySelector("ul.grid");
  const pictures = [...(grid?.querySelectorAll("img") ?? [])];
  const painted = (one) => one.complete && one.naturalWidth > 0;
  return pictures.length > 0 && !grid.matches(".stale, .old *") && pictures.every(painted);
}"""
HEAT = """() => {
  const panel = document.querySelector("#sample-heat")?.closest("section");
  if (!panel || panel.matches(".old *") || panel.ariaBusy !== "false" || panel.querySelector(".stale")) return false;
  const drawn = [...panel.querySelectorAll("figure canvas")];
  const pixels = (one) => one.getContext("2d").getImageData(0, 0, one.width, one.height).data;
  return drawn.length > 0 && drawn.every((one) => pixels(one).some((value) => value > 0));
}"""
SANITY = (
    '() => document.querySelector("#sample-heat").closest("section").querySelector(".sanity svg[role=img]") !== null'
)
# Clicks, then looks once a frame for each of the three; what is seen in one frame is on the screen with the next.
CLICK = f"""
() => new Promise((done) => {{
  const name = () => document.querySelector("h2.mono").textContent;
  const was = name();
  const wanted = {{ similars: {SIMILARS}, heat: {HEAT}, sanity: () => ({HEAT})() && ({SANITY})() }};
  const found = {{}};
  const begin = performance.now();
  document.querySelector('nav[aria-label="Samples"] a[aria-label^="Next"]').click();
  const look = () => {{
    const now = performance.now() - begin;
    for (const [key, holds] of Object.entries(wanted)) {{
      if (!(key in found) && name() !== was && holds()) {{
        found[key] = 0;
        requestAnimationFrame(() => {{ found[key] = performance.now() - begin; }});
      }}
    }}
    if (Object.values(found).filter(Boolean).length === 3 || now > 30000) return done(found);
    requestAnimationFrame(look);
  }};
  requestAnimationFrame(look);
}})
"""


def measure_sample(browsing: Browsing, scratch: Path, turns: int) -> Answer:
    """Milliseconds from a click on the next sample, the model warm; and the first similars of a server just started."""
    _make_demo(scratch)
    first: list[float] = []
    found: dict[str, list[float]] = {"similars": [], "heat": [], "sanity": []}
    for turn in range(max(1, turns // 3)):
        with (
            serve_studio(scratch / "runs", scratch / "cache") as studio,
            browsing.visit(_address(studio), SIMILARS) as (page, shown),
        ):
            first.append(shown)
            if turn == 0:
                _clicks(page, turns, found)
    return {"first": first, **found}


def _clicks(page: Any, turns: int, found: dict[str, list[float]]) -> None:
    end = time.monotonic() + 60
    while not page.evaluate(f"({READY})()"):
        if time.monotonic() > end:
            raise PageFailed("the model of the demo was not ready after a minute")
        page.wait_for_timeout(100)
    for turn in range(turns + WARMING):
        page.wait_for_timeout(LOOKING_MS)
        times = page.evaluate(CLICK)
        if len(times) < len(found):
            raise PageFailed(f"after a click only {', '.join(times) or 'nothing'} came")
        if turn >= WARMING:
            for key, value in times.items():
                found[key].append(value)


def _make_demo(folder: Path) -> None:
    command = [sys.executable, "-m", "cutaway", "demo", "--epochs", "1", "--json"]
    done = subprocess.run(command, cwd=folder, env=dict(os.environ), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the demo failed: {done.stderr.strip()[-300:]}")


def _address(studio: Server) -> str:
    """The page of a sample of the demo's run with wrong labels; not the first one, which has none before it."""
    end = time.monotonic() + 60
    # A studio that was just started lists runs one after the other.
    while not (runs := [one["id"] for one in _asked(studio, "runs", limit=50) if one["name"].startswith(RUN)]):
        if time.monotonic() > end:
            raise RuntimeError(f"the studio lists no run {RUN}")
        time.sleep(0.05)
    run = runs[0]
    sample = _asked(studio, f"runs/{run}/population/rows", row=20)[0]["sample"]
    return f"{studio.url}/runs/{run}/sample?{urllib.parse.urlencode({'sample': sample})}"


def _asked(studio: Server, path: str, **query: int) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{studio.url}/api/{path}?{urllib.parse.urlencode(query)}") as answer:
        rows: list[dict[str, Any]] = json.load(answer)["data"]
        return rows
