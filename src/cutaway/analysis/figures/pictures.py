"""Pictures of samples for figures: PNG or arrays in, pixels or PNG out. Changes no data of anybody's."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cutaway.analysis.figures.packing import pack
from cutaway.arrays import Array
from cutaway.errors import ConfigurationError

__all__ = ["Picture", "Previews", "choose_previews", "extent_of", "is_small_png", "pixels_of", "png_of"]

Picture = bytes | Array
# What a picture in a figure may have; previews are far smaller.
MOST_PIXELS = 16_000_000
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# What a page carries of previews, to stay small.
MOST_PREVIEWS = 5_000
MOST_BYTES = 4_000_000


def is_small_png(data: bytes) -> bool:
    """Whether bytes begin as a PNG that is no bomb: its size is in the header, and nothing is decoded to read it.

    >>> is_small_png(b"<svg/>")
    False
    """
    if not data.startswith(_SIGNATURE) or len(data) < 33 or data[8:16] != b"\0\0\0\rIHDR":
        return False
    width, height = _size(data)
    return 0 < width * height <= MOST_PIXELS


def _size(png: bytes) -> tuple[int, int]:
    """Return how wide and how high a PNG is, as its header says."""
    width, height = struct.unpack(">II", png[16:24])
    return int(width), int(height)


def pixels_of(picture: Picture) -> Array | None:
    """Return a picture as an array of uint8, rows by columns or with three or four channels; None for what is none."""
    from PIL import Image, UnidentifiedImageError

    if not isinstance(picture, bytes):
        return _as_bytes(np.asarray(picture))
    if not is_small_png(picture):
        return None
    try:
        with Image.open(io.BytesIO(picture), formats=("PNG",)) as opened:
            return np.asarray(opened if opened.mode in ("L", "RGB", "RGBA") else opened.convert("RGB"))
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError):
        return None  # cut short, or not a PNG: a figure says so in its place


def _as_bytes(array: Array) -> Array:
    pixels = array[..., 0] if array.ndim == 3 and array.shape[-1] == 1 else array
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[-1] not in (3, 4)) or 0 in pixels.shape:
        raise ConfigurationError(
            f"A picture has rows, columns and 1, 3 or 4 channels, but got an array of shape {array.shape}."
        )
    if pixels.dtype == np.uint8:
        return pixels
    if pixels.dtype.kind not in "biuf":
        raise ConfigurationError(f"A picture is made of numbers, but got an array of {array.dtype}.")
    numbers = np.nan_to_num(pixels.astype(np.float64), posinf=0, neginf=0)
    low, high = numbers.min(), numbers.max()
    if pixels.dtype.kind == "f" and low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    return np.asarray(np.rint((numbers - low) / ((high - low) or 1.0) * 255), np.uint8)


def extent_of(picture: Picture | None) -> tuple[int, int]:
    """Return how wide and how high a picture is; 0 and 0 for what is none."""
    if picture is None:
        return 0, 0
    if not isinstance(picture, bytes):
        return picture.shape[1], picture.shape[0]
    return _size(picture) if is_small_png(picture) else (0, 0)


def png_of(picture: Picture) -> bytes | None:
    """Return a picture as PNG; None for bytes that are no PNG."""
    from PIL import Image

    if isinstance(picture, bytes):
        return picture if pixels_of(picture) is not None else None
    written = io.BytesIO()
    Image.fromarray(_as_bytes(np.asarray(picture))).save(written, "PNG")
    return written.getvalue()


@dataclass(frozen=True)
class Previews:
    """Pictures of some samples: `rows` in rising order, and one PNG for each. `known` counts those that there were."""

    rows: tuple[int, ...] = ()
    pictures: tuple[bytes, ...] = ()
    known: int = 0

    def said(self) -> str:
        """Return what a reader must know about them, or nothing where all are there."""
        if len(self.rows) == self.known:
            return ""
        return f"As a page it carries the pictures of {len(self.rows):,} of {self.known:,} samples, to stay small."

    def packed(self) -> dict[str, Any]:
        """Return them as JSON: the rows, where each picture ends, and the bytes of all."""
        ends = np.cumsum([len(one) for one in self.pictures], dtype=np.uint32)
        everything = np.frombuffer(b"".join(self.pictures), np.uint8)
        return {"rows": pack(np.array(self.rows, np.uint32)), "ends": pack(ends), "bytes": pack(everything)}


def choose_previews(ids: Sequence[str], previews: Mapping[str, bytes] | None, importance: Array) -> Previews:
    """Return the pictures of the most important samples, as many as there is room for."""
    if not previews:
        return Previews()
    # A page hands them to a browser as they are: one of a size that no preview has would take its memory.
    known = [row for row, one in enumerate(ids) if is_small_png(previews.get(one) or b"")]
    chosen: list[int] = []
    room = MOST_BYTES
    for row in sorted(known, key=lambda one: -float(importance[one]))[:MOST_PREVIEWS]:
        room -= len(previews[ids[row]])
        if room < 0:
            break
        chosen.append(row)
    chosen.sort()
    return Previews(tuple(chosen), tuple(previews[ids[row]] for row in chosen), len(known))
