"""Draws the packages of Cutaway as the contracts of import-linter order them: docs/images/architecture.svg."""

from __future__ import annotations

import re
import tomllib
from html import escape
from typing import Any

from scripts.requirements import ROOT

__all__ = ["architecture_picture", "layers_of"]

WIDTH, LEFT, ROW, GAP, TOP = 1080, 28, 40, 10, 96
BOXES = 560
# The panels of packages that have layers of their own.
INSIDE = {"analysis": 28, "studio": 554}
SMALL_ROW, SMALL_GAP = 30, 6
# How wide a layer is, how high, and how large its names are.
Look = tuple[int, int, int]
LARGE: Look = (BOXES, ROW, 15)
SMALL: Look = (498, SMALL_ROW, 11)
INK, QUIET, BOX, EDGE = "#33415c", "#6b7280", "#eef1f6", "#c9d1e0"
# What each package is for, in the few words that fit beside its row.
ROLES = {
    "cli": "the command; contracts for those who extend us",
    "demo": "what the first command trains and tells",
    "torch": "thin public doors to the frameworks",
    "studio": "HTTP API and page over run folders",
    "analysis": "what is concluded: of populations, of trainings",
    "evaluation": "the one pass over every sample; checks of a binding",
    "frameworks": "the only code that touches a framework's objects",
    "dataset": "saving steps; bindings; model files; reading runs",
    "engine": "child processes, supervised and limited",
    "run": "the run folder: its files, tables, findings, jobs",
    "tensors": "modes, collections, schedules, statistics",
    "registry": "ours by dotted names, others' by entry points",
    "arrays": "names for arrays; the tree of errors; counts in words",
}


def layers_of(container: str) -> list[list[str]]:
    """Return the packages of each layer that a contract orders, the highest first; those that exist."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    contract: dict[str, Any] = next(one for one in contracts if one.get("containers") == [container])
    folder = ROOT / "src" / container.replace(".", "/")
    rows = []
    for layer in contract["layers"]:
        names = sorted(re.findall(r"\w+", layer))
        rows.append([one for one in names if (folder / one).is_dir() or (folder / f"{one}.py").is_file()])
    return [row for row in rows if row]


def architecture_picture() -> str:
    """Return the picture as SVG."""
    rows = layers_of("cutaway")
    inside = {name: layers_of(f"cutaway.{name}") for name in INSIDE}
    bottom = TOP + len(rows) * (ROW + GAP) + 20
    height = bottom + 60 + max(len(inner) for inner in inside.values()) * (SMALL_ROW + SMALL_GAP) + 20
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'aria-labelledby="title description" '
        "font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\">",
        '<title id="title">The packages of Cutaway, in layers</title>',
        '<desc id="description">From above to below: '
        + escape("; ".join(", ".join(row) for row in rows))
        + ". Each imports only from layers below its own. Below are the inner layers of "
        + f"{' and of '.join(INSIDE)}.</desc>",
        "<!-- A light card of its own, so that it reads the same on a dark page. -->",
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{height - 2}" rx="14" fill="#fbfaf7" stroke="#d8d4ca" '
        'stroke-width="1.5"/>',
        f'<text x="{LEFT}" y="42" fill="{INK}" font-size="18" font-weight="700">src/cutaway</text>',
        f'<text x="{LEFT}" y="66" fill="{QUIET}" font-size="13">Imports point down only; packages beside each other do '
        "not import each other.</text>",
    ]
    for number, row in enumerate(rows):
        y = TOP + number * (ROW + GAP)
        lines += _boxes(row, LEFT, y, LARGE)
        role = next((words for name, words in ROLES.items() if name in row), "")
        lines.append(f'<text x="{LEFT + BOXES + 20}" y="{y + 25}" fill="{QUIET}" font-size="13">{escape(role)}</text>')
    for name, x in INSIDE.items():
        lines.append(
            f'<text x="{x}" y="{bottom + 32}" fill="{INK}" font-size="15" font-weight="700">inside {name}</text>'
        )
        for number, row in enumerate(inside[name]):
            y = bottom + 48 + number * (SMALL_ROW + SMALL_GAP)
            lines += _boxes(row, x, y, SMALL)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _boxes(names: list[str], left: int, y: int, look: Look) -> list[str]:
    """Draw the packages of one layer beside each other; where they are many, as wide as their names ask for."""
    whole, height, font = look
    room = whole - SMALL_GAP * (len(names) - 1)
    many = len(names) > 6
    shares = [len(name) + 1 if many else 1 for name in names]
    lines, x = [], float(left)
    for name, share in zip(names, shares, strict=True):
        width = room * share / sum(shares)
        size = font - 3 if many else font
        lines.append(
            f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" rx="6" fill="{BOX}" stroke="{EDGE}" '
            'stroke-width="1.4"/>'
        )
        lines.append(
            f'<text x="{x + width / 2:.1f}" y="{y + height // 2 + 5}" fill="{INK}" font-size="{size}" '
            f'font-weight="600" text-anchor="middle">{escape(name)}</text>'
        )
        x += width + SMALL_GAP
    return lines
