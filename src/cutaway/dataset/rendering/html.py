"""A page for a person of anything that a visualizer returns: one file, no script, nothing fetched, every text escaped.

Words stand in it as words, so they can be searched, copied and read aloud; pictures stand in it as PNG.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from cutaway.dataset import visualizer_classes as leap
from cutaway.dataset.rendering.axes import number
from cutaway.dataset.rendering.bars import bar_axis, top_bars
from cutaway.dataset.rendering.canvas import Colour
from cutaway.dataset.rendering.pictures import shown_labels
from cutaway.dataset.rendering.png import render_png
from cutaway.dataset.rendering.texts import backgrounds, words
from cutaway.dataset.rendering.typed import wav_bytes
from cutaway.dataset.value_range import scale_of
from cutaway.errors import ConfigurationError

__all__ = ["render_html"]

# The page may show what it carries and nothing else, whatever a text in it should turn into.
_POLICY = "default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'"

_STYLE = """
body { font: 15px/1.7 system-ui, sans-serif; color: #212530; background: #fff; margin: 16px; max-width: 1040px; }
img { display: block; max-width: 100%; image-rendering: pixelated; }
p.note, td.value { color: #687082; } p.words span { border-radius: 4px; padding: 2px 3px; }
table { border-collapse: collapse; } td, th { padding: 2px 10px 2px 0; text-align: left; font-weight: normal; }
i.square { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin: 0 6px 0 0; }
.bar { position: relative; width: 360px; height: 16px; background: #f3f5f9; } .bar b, .bar i { position: absolute; }
.bar b { top: 0; height: 16px; background: #0072b2; }
.bar i { top: -3px; width: 3px; height: 22px; background: #212530; }
"""

_TOKENS = 20_000


def render_html(leap_object: leap.LeapObject) -> str:
    """Return a whole page that shows what a visualizer returned.

    >>> "&lt;b&gt;" in render_html(leap.LeapText(["<b>"]))
    True
    """
    body = _BODIES.get(type(leap_object))
    if body is None:
        raise ConfigurationError(f"There is no visualizer type for {type(leap_object).__qualname__}.")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{escape(leap_object.type.value)}</title><style>{_STYLE}</style></head>\n"
        f"<body>{body(leap_object)}</body></html>\n"
    )


def _escaped(value: str) -> str:
    return escape(value.encode("utf-8", "replace").decode())


def _picture(value: leap.LeapObject, alt: str) -> str:
    data = base64.b64encode(render_png(value)).decode()
    return f'<img src="data:image/png;base64,{data}" alt="{_escaped(alt)}">'


def _image(value: leap.LeapImage) -> str:
    height, width, _ = value.data.shape
    note = f"{width} x {height} pixels, black to white: {scale_of(value.data)}"
    return f'{_picture(value, note)}<p class="note">{note}</p>'


def _video(value: leap.LeapVideo) -> str:
    count, height, width, _ = value.data.shape
    note = f"{count} frames of {width} x {height} pixels, black to white: {scale_of(value.data)}"
    return f'{_picture(value, note)}<p class="note">{note}</p>'


def _boxes(value: leap.LeapImageWithBBox) -> str:
    rows = "".join(
        f"<tr><td>{_escaped(box.label)}</td><td>{box.confidence:.3f}</td>"
        f"<td>{box.x:.3f}, {box.y:.3f}</td><td>{box.width:.3f} x {box.height:.3f}</td>"
        f"<td>{_escaped(', '.join(f'{key}: {one}' for key, one in (box.metadata or {}).items()))}</td></tr>"
        for box in value.bounding_boxes
    )
    head = "<tr><th>label</th><th>confidence</th><th>centre</th><th>size</th><th></th></tr>"
    return f"{_picture(value, f'an image with {len(value.bounding_boxes)} boxes')}<table>{head}{rows}</table>"


def _mask(value: leap.LeapImageMask) -> str:
    return _picture(value, "an image with a mask") + _legend(shown_labels(value.mask, value.labels, striped=True))


def _heatmaps(value: leap.LeapImageWithHeatmap) -> str:
    return _picture(value, "heat maps: " + ", ".join(value.labels))


def _graph(value: leap.LeapGraph) -> str:
    points, traces = value.data.shape
    return _picture(value, f"{traces} traces of {points} points, {value.y_label or 'y'} over {value.x_label or 'x'}")


def _words(value: leap.LeapText | leap.LeapTextMask) -> str:
    tokens, colours = words(value), backgrounds(value)
    spans = " ".join(
        f'<span style="background: {_css(colour)}">{_escaped(token)}</span>'
        for token, colour in list(zip(tokens, colours, strict=True))[:_TOKENS]
        if token
    )
    more = f'<p class="note">and {len(tokens) - _TOKENS:,} more tokens</p>' if len(tokens) > _TOKENS else ""
    key = _legend(shown_labels(value.mask, value.labels)) if isinstance(value, leap.LeapTextMask) else ""
    return f'<p class="words">{spans}</p>{more}{key}'


def _bars(value: leap.LeapHorizontalBar) -> str:
    axis, chosen = bar_axis(value), top_bars(value)

    def share(amount: float) -> float:
        return 100 * (amount - axis.low) / (axis.high - axis.low)

    rows = []
    for index in chosen:
        left, right = sorted((share(0.0), share(float(value.body[index]))))
        mark = "" if value.gt is None else f'<i style="left: {share(float(value.gt[index])):.2f}%"></i>'
        truth = "" if value.gt is None else f" (ground truth {number(float(value.gt[index]))})"
        rows.append(
            f'<tr><th>{_escaped(value.labels[index])}</th><td><div class="bar">'
            f'<b style="left: {left:.2f}%; width: {right - left:.2f}%"></b>{mark}</div></td>'
            f'<td class="value">{number(float(value.body[index]))}{truth}</td></tr>'
        )
    hidden = len(value.labels) - len(chosen)
    more = f'<p class="note">and {hidden:,} smaller ones</p>' if hidden else ""
    return f"<table>{''.join(rows)}</table>{more}"


def _audio(value: leap.LeapAudio) -> str:
    data = base64.b64encode(wav_bytes(value)).decode()
    seconds = len(value.data) / value.sample_rate
    return (
        f"{_picture(value, f'{seconds:.2f} seconds of sound')}"
        f'<audio controls src="data:audio/wav;base64,{data}"></audio>'
    )


def _legend(entries: Sequence[tuple[str, Colour]]) -> str:
    items = "".join(
        f'<td><i class="square" style="background: {_css(colour)}"></i>{_escaped(label)}</td>'
        for label, colour in entries
    )
    return f"<table><tr>{items}</tr></table>"


def _css(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


_BODIES: dict[type[leap.LeapObject], Callable[[Any], str]] = {
    leap.LeapImage: _image,
    leap.LeapVideo: _video,
    leap.LeapImageWithBBox: _boxes,
    leap.LeapImageMask: _mask,
    leap.LeapImageWithHeatmap: _heatmaps,
    leap.LeapGraph: _graph,
    leap.LeapHorizontalBar: _bars,
    leap.LeapText: _words,
    leap.LeapTextMask: _words,
    leap.LeapAudio: _audio,
}
