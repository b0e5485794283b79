"""The report as one file of HTML that loads nothing and runs nothing, and that stays small enough to be mailed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path

from cutaway.analysis.figures.page import fill, policy
from cutaway.analysis.report.cards import Room
from cutaway.analysis.report.pictures import Album
from cutaway.analysis.report.sections import sections
from cutaway.analysis.report.summary import interval_words, summary_of, suspected, value_words
from cutaway.analysis.report.tables import facts_list, folded
from cutaway.analysis.report.texts import html, prose
from cutaway.analysis.report.values import ReportContent
from cutaway.wording import counted

__all__ = ["MOST_BYTES", "Made", "make_report"]

# What every mail server takes, with room for the letter.
MOST_BYTES = 5_000_000
# From all that there is to what is left when everything is huge; the first that is small enough is taken.
ROOMS = (Room(), Room(24, 50, 200, 8), Room(12, 30, 140, 5), Room(6, 15, 90, 3), Room(2, 5, 60, 0))
ASSETS = Path(__file__).parent / "assets"


@dataclass(frozen=True)
class Made:
    """A report: its HTML, and what it lacks to stay small."""

    html: str
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The bytes of the file."""
        return len(self.html.encode())


def make_report(content: ReportContent, *, made: datetime, version: str, most_bytes: int = MOST_BYTES) -> Made:
    """Return a report of at most `most_bytes`, with fewer pictures and rows where it takes that, and a note of it.

    `made` is when, `version` the version of Cutaway; both stand at the end of the page.
    """
    album = Album(content.previews)
    when = f"{made:%Y-%m-%d %H:%M %Z}".strip()
    foot = f"Made {html(when)} with Cutaway {html(version)}. This file loads nothing and runs no scripts."
    for room in ROOMS:
        notes = () if room is ROOMS[0] else (_shrunk(room, most_bytes),)
        told = replace(content, limits=[*notes, *content.limits])
        page = Made(_page(told, album, room, foot), notes)
        if page.size <= most_bytes:
            break
    return page


def _page(content: ReportContent, album: Album, room: Room, foot: str) -> str:
    filled = {name: (title, section(content, album, room)) for name, (title, section) in sections().items()}
    shown = {name: both for name, both in filled.items() if both[1]}
    style = _asset("report.css")
    head = content.head
    parts = {
        "POLICY": policy(style, ""),
        "TITLE": f"{html(head.name, 120)} · report",
        "STYLE": style,
        "NAME": html(head.name, 120),
        "STATE": f'<span class="badge state">{html(head.state, 40)}</span>' if head.state else "",
        "FACTS": facts_list(head.facts) + _config(content),
        "SUMMARY": "".join(f"<p>{prose(one, 600)}</p>" for one in summary_of(content)),
        "FIGURES": _key_figures(content),
        "CONTENTS": "".join(f'<a href="#{name}">{title}</a>' for name, (title, _) in shown.items()),
        "SECTIONS": "".join(
            f'<section id="{name}"><h2>{title}</h2>{inside}</section>' for name, (title, inside) in shown.items()
        ),
        "FOOT": foot,
    }
    return fill(_asset("report.html"), parts)


def _config(content: ReportContent) -> str:
    config = list(content.head.config.items())[:200]
    return folded(f"Config: {counted(len(config), 'setting')}", facts_list(config)) if config else ""


def _key_figures(content: ReportContent) -> str:
    """The few numbers that a reader looks for first."""
    tiles = [
        (value_words(one), f"{one.what} on {one.subset}", interval_words(one)) for one in content.scores if one.what
    ][:4]
    scores = suspected(content)
    if scores is not None:
        expected = f"expect about {sum(scores):,.0f} to be wrong" if scores else ""
        tiles.append((f"{len(scores):,}", "suspicious labels", expected))
    errors, warnings = content.head.errors, content.head.warnings
    if errors or warnings:
        told = f"{counted(errors, 'error')}, {counted(warnings, 'warning')}"
        tiles.append((f"{errors + warnings:,}", "findings about the training", told))
    shown = "".join(
        f"<div><b>{html(value, 40)}</b><span>{html(what, 80)}</span><small>{html(more, 60)}</small></div>"
        for value, what, more in tiles
    )
    return f'<div class="tiles">{shown}</div>' if shown else ""


def _shrunk(room: Room, most_bytes: int) -> str:
    return (
        f"To stay below {most_bytes / 1e6:.3g} MB this report shows at most {counted(room.cards, 'picture')} of each "
        f"kind, {counted(room.figures, 'figure')} and {counted(room.rows, 'row')} of each table"
    )


@cache
def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")
