"""Builds the page that has both maps: ours from ui/src/map, and regl-scatterplot, which npm installs below .bench."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from benchmarks.peers import bench_folder
from scripts.node import npm, run_node
from scripts.requirements import ROOT

__all__ = ["PEER", "build_map_page"]

UI = ROOT / "ui"
SOURCES = Path(__file__).resolve().parent / "maps"
PEER = "regl-scatterplot 1.16.0"
# Its own pins leave open what it needs; these are the newest that it took on 2026-11-16.
PACKAGES = ("regl-scatterplot@1.16.0", "regl@2.1.1", "pub-sub-es@3.0.0")
SECONDS = 300.0


def build_map_page(folder: Path) -> Path:
    """Return the folder of the built page. `folder` lies inside the checkout, so that ui/node_modules can be linked."""
    shutil.copytree(SOURCES, folder)
    (folder / "node_modules").symlink_to(UI / "node_modules")
    places = {"BENCH_PEER": str(_peer()), "BENCH_MAP": str(UI / "src" / "map")}
    done = run_node(UI / "node_modules" / "vite" / "bin" / "vite.js", ["build"], folder=folder, environment=places)
    if done.returncode:
        raise RuntimeError(f"the page of the maps could not be built: {done.stdout.strip()[-300:]}")
    return folder / "dist"


def _peer() -> Path:
    """The folder of the other map's packages, installed if they are missing or other ones."""
    folder = bench_folder() / "npm" / "maps"
    stamp, wanted = folder / "packages.txt", "\n".join(PACKAGES)
    if stamp.exists() and stamp.read_text() == wanted:
        return folder / "node_modules"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}\n')
    options = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--save-exact"]
    try:
        done = run_node(npm(), [*options, *PACKAGES], folder=folder, seconds=SECONDS)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"npm did not install {PEER} in {SECONDS:.0f} s") from None
    if done.returncode:
        raise RuntimeError(f"npm could not install {PEER}: {done.stdout.strip()[-300:]}")
    stamp.write_text(wanted)
    return folder / "node_modules"
