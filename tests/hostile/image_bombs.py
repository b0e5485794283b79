"""Pictures that were made to harm: few bytes that claim any size, programs that call themselves pictures."""

from __future__ import annotations

import io
import struct
import zlib

from PIL import Image

__all__ = ["BOMBS", "png_bomb"]


def png_bomb(width: int, height: int) -> bytes:
    """Return a PNG of a few kilobytes that claims a size."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(1_000_000), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )


def _jpeg() -> bytes:
    written = io.BytesIO()
    Image.effect_noise((64, 64), 90).save(written, "JPEG")
    return written.getvalue()


def _gif_bomb() -> bytes:
    return (
        b"GIF89a" + struct.pack("<HH", 65_000, 65_000) + b"\x80\0\0\0\0\0\xff\xff\xff" + b"\x2c" + bytes(9) + b"\x02\0;"
    )


BOMBS = {
    "a PNG of 60,000 x 60,000": png_bomb(60_000, 60_000),
    "a PNG of 12,000 x 12,000, below Pillow's own limit": png_bomb(12_000, 12_000),
    "a GIF of 65,000 x 65,000": _gif_bomb(),
    "a JPEG cut short": _jpeg()[:400],
    "an SVG with a script": b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
    "an SVG with HTML": b"<svg><foreignObject><iframe src='https://example.org'/></foreignObject></svg>",
    "PostScript, which Pillow gives to another program": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n",
    "a page of HTML": b"<html><img src=x onerror=alert(1)></html>",
    "nothing": b"",
}
