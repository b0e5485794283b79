"""Pictures of anybody: small PNG are shown as they look, everything else costs its own place only."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from cutaway.analysis.report.pictures import Album, checked_picture, small_figure
from tests.unit.analysis.figures.made import png


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bomb(width: int, height: int) -> bytes:
    """A PNG of few bytes that unfolds to any size."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(bytes(1_000_000), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def saved(image: Image.Image, kind: str = "PNG") -> bytes:
    written = io.BytesIO()
    image.save(written, kind)
    return written.getvalue()


def pixels(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)))


BAD = {
    "nothing": (lambda: b"", "it is no PNG"),
    "SVG": (lambda: b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", "it is no PNG"),
    "HTML": (lambda: b"<img src=x onerror=alert(1)>", "it is no PNG"),
    "JPEG": (lambda: saved(Image.new("RGB", (9, 9)), "JPEG"), "it is no PNG"),
    "a JPEG cut short": (lambda: saved(Image.new("RGB", (99, 99)), "JPEG")[:300], "it is no PNG"),
    "a bomb": (lambda: bomb(60_000, 60_000), "it is 60,000 x 60,000 pixels"),
    "a long bomb": (lambda: bomb(1, 2**31 - 1), "it is 1 x 2,147,483,647 pixels"),
    "no size": (lambda: bomb(0, 5), "it is 0 x 5 pixels"),
    "a header only": (lambda: png()[:20], "it is cut short"),
    "a PNG cut short": (lambda: png(side=40)[:-100], "it cannot be decoded"),
    "garbled": (lambda: png()[:45] + b"\xff" * 40, "it cannot be decoded"),
    "nine megabytes": (lambda: png().ljust(9_000_000, b"\0"), "it takes 9,000,000 bytes"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_small_png_is_refused_with_the_reason(name: str) -> None:
    make, reason = BAD[name]
    found = checked_picture(make())
    assert found.reason.startswith(reason)
    assert found.png == b""


def test_a_bomb_takes_no_memory() -> None:
    data = bomb(60_000, 60_000)
    tracemalloc.start()
    checked_picture(data)
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA"])
def test_a_small_png_of_any_kind_looks_as_it_did(mode: str) -> None:
    colours = np.random.default_rng(0).integers(0, 255, (12, 9, 4), dtype=np.uint8)
    image = Image.fromarray(colours).convert("RGB" if mode in ("P", "RGB") else "RGBA").convert(mode)
    found = checked_picture(saved(image))
    assert (found.reason, found.width, found.height) == ("", 9, 12)
    assert np.array_equal(pixels(found.png), np.asarray(image.convert(Image.open(io.BytesIO(found.png)).mode)))


def test_a_large_picture_becomes_a_small_one() -> None:
    found = checked_picture(saved(Image.new("RGB", (1500, 900))))
    assert (found.width, found.height) == (256, 154)


@pytest.mark.parametrize("tail", [b"<script>alert(1)</script>", b"%PDF-1.7", b"PK\x03\x04" + b"x" * 100])
def test_a_second_format_behind_or_inside_stays_outside(tail: bytes) -> None:
    told = PngInfo()
    told.add_text("Comment", tail.decode("latin-1"))
    written = io.BytesIO()
    Image.new("L", (8, 8)).save(written, "PNG", pnginfo=told, icc_profile=tail)
    found = checked_picture(written.getvalue() + tail)
    assert found.reason == ""
    assert tail not in found.png
    assert b"iCCP" not in found.png


def test_an_album_checks_a_picture_once_and_knows_what_it_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    album = Album({"a": png(), "b": b"<svg/>"})
    seen = [album.of(one).reason for one in ("a", "b", "c")]
    assert seen == ["", "it is no PNG", "the run has none"]
    assert album.refused == {"b": "it is no PNG"}
    refuse: Callable[..., None] = pytest.fail
    monkeypatch.setattr("cutaway.analysis.report.pictures.checked_picture", refuse)
    assert album.of("a").png


def test_a_figure_takes_fewer_bytes_and_looks_nearly_the_same() -> None:
    ramp = np.linspace(0, 255, 300, dtype=np.uint8)
    drawn = saved(Image.fromarray(np.stack([np.tile(ramp, (200, 1))] * 3, axis=-1)))
    small = small_figure(drawn)
    assert len(small) <= len(drawn)
    assert np.abs(pixels(saved(Image.open(io.BytesIO(small)).convert("RGB"))).astype(int) - pixels(drawn)).max() < 40
