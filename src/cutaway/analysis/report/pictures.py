"""Pictures that a report may carry: PNG of anybody in, small PNG of ours out. Nothing goes into a page as it came.

The size is read from the header before anything is decoded, so a bomb costs a few bytes. What is decoded is encoded
anew: a script in a comment, a second format behind the first and a wrong checksum all stay outside.
"""

from __future__ import annotations

import base64
import io
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Album", "Picture", "checked_picture", "small_figure"]

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Previews are at most some hundred pixels wide; a sample's own visualizer may draw larger ones.
MOST_BYTES = 8_000_000
MOST_PIXELS = 4_000_000
# Wider than any place that a page has for a sample.
LONGEST = 256


@dataclass(frozen=True)
class Picture:
    """A picture that was checked, or the reason why there is none to show."""

    png: bytes = b""
    width: int = 0
    height: int = 0
    reason: str = ""

    @property
    def address(self) -> str:
        """What an `img` takes; the picture itself."""
        return f"data:image/png;base64,{base64.b64encode(self.png).decode()}"


def checked_picture(data: bytes, *, longest: int = LONGEST) -> Picture:
    """Return a picture that can be shown, at most `longest` pixels wide and high, or one with the reason why not.

    >>> checked_picture(b"<svg onload='alert(1)'/>").reason
    'it is no PNG'
    """
    reason = _refused(data)
    if reason:
        return Picture(reason=reason)
    from PIL import Image as Pillow
    from PIL import UnidentifiedImageError

    try:
        with Pillow.open(io.BytesIO(data), formats=("PNG",)) as opened:
            clear = opened.mode in ("RGBA", "LA", "PA") or "transparency" in opened.info
            grey = opened.mode in ("1", "L", "I", "I;16")
            plain = opened.convert("RGBA" if clear else "L" if grey else "RGB")
        plain.thumbnail((longest, longest))
        # Without profiles and whatever else came with it.
        plain.info = {}
        return Picture(_written(plain), *plain.size)
    except Pillow.DecompressionBombError:
        return Picture(reason="it has more pixels than a picture of a sample may have")
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError, struct.error, MemoryError) as error:
        # Cut short, garbled, or made to harm: Pillow raises any of these.
        return Picture(reason=f"it cannot be decoded ({type(error).__name__})")


def small_figure(png: bytes) -> bytes:
    """Return one of our own figures with at most 256 colours, which takes a third of the bytes and looks the same."""
    from PIL import Image as Pillow

    with Pillow.open(io.BytesIO(png), formats=("PNG",)) as opened:
        plain = opened.convert("RGB")
    small = _written(plain.quantize(256, method=Pillow.Quantize.FASTOCTREE, dither=Pillow.Dither.NONE))
    return small if len(small) < len(png) else png


class Album:
    """The pictures of samples, each checked once. Counts those that could not be shown."""

    def __init__(self, previews: Mapping[str, bytes]) -> None:
        self._previews = previews
        self._checked: dict[str, Picture] = {}

    def __bool__(self) -> bool:
        return bool(self._previews)

    def of(self, sample: str) -> Picture:
        """Return the picture of a sample, or the reason why there is none."""
        if sample not in self._checked:
            data = self._previews.get(sample)
            self._checked[sample] = Picture(reason="the run has none") if data is None else checked_picture(data)
        return self._checked[sample]

    @property
    def refused(self) -> dict[str, str]:
        """The samples whose picture was there and could not be shown, with the reason."""
        return {name: one.reason for name, one in self._checked.items() if one.reason and name in self._previews}


def _refused(data: object) -> str:
    """Return why bytes are not even decoded; empty where they may be."""
    if not isinstance(data, bytes) or not data.startswith(SIGNATURE):
        return "it is no PNG"
    if len(data) > MOST_BYTES:
        return f"it takes {len(data):,} bytes, and a picture of a sample at most {MOST_BYTES:,}"
    if len(data) < 33 or data[8:16] != b"\0\0\0\rIHDR":
        return "it is cut short"
    width, height = struct.unpack(">II", data[16:24])
    if not 0 < width * height <= MOST_PIXELS:
        return f"it is {width:,} x {height:,} pixels, and a picture of a sample has at most {MOST_PIXELS:,}"
    return ""


def _written(image: Image) -> bytes:
    written = io.BytesIO()
    image.save(written, "PNG", optimize=True)
    return written.getvalue()
