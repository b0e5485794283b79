"""Draws the reliability curve as an SVG. Pure."""

from __future__ import annotations

from typing import Any

__all__ = ["reliability_svg"]

SIDE, EDGE = 320, 44
LARGEST = 9.0


def reliability_svg(lines: list[dict[str, Any]], title: str) -> str:
    """The share of wrong labels over the score, a dot for each range; on the diagonal scores are what they say."""
    whole = SIDE + 2 * EDGE
    most = max((one["count"] for one in lines), default=1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole}" width="{whole}" height="{whole}" '
        'font-family="sans-serif" font-size="12" fill="#333">',
        f"<title>{title}</title>",
        f'<rect width="{whole}" height="{whole}" fill="#fff"/>',
        f'<rect x="{EDGE}" y="{EDGE}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#bbb"/>',
        f'<polygon points="{_points([(0, 0), (0, 0.1), (0.9, 1), (1, 1), (1, 0.9), (0.1, 0)])}" fill="#eef2f7"/>',
        f'<polyline points="{_points([(0, 0), (1, 1)])}" stroke="#999" stroke-dasharray="4 4" fill="none"/>',
    ]
    places = [(one["score"], one["share"]) for one in lines]
    parts.append(f'<polyline points="{_points(places)}" stroke="#1f5fa8" stroke-width="2" fill="none"/>')
    for one, (score, share) in zip(lines, places, strict=True):
        x, y = _at(score, share)
        radius = max(3.0, LARGEST * (one["count"] / most) ** 0.25)
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="#1f5fa8"><title>{one["count"]:,} labels</title>'
            "</circle>"
        )
    for value in (0, 0.5, 1):
        x, y = _at(value, value)
        parts.append(f'<text x="{x:.0f}" y="{EDGE + SIDE + 16}" text-anchor="middle">{value:g}</text>')
        parts.append(f'<text x="{EDGE - 6}" y="{y + 4:.0f}" text-anchor="end">{value:g}</text>')
    middle = EDGE + SIDE / 2
    parts.append(f'<text x="{middle:.0f}" y="{whole - 8}" text-anchor="middle">score</text>')
    parts.append(f'<text transform="translate(14 {middle:.0f}) rotate(-90)" text-anchor="middle">share wrong</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _at(x: float, y: float) -> tuple[float, float]:
    return EDGE + SIDE * x, EDGE + SIDE * (1 - y)


def _points(places: list[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in (_at(*one) for one in places))
