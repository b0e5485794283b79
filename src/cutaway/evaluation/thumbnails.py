"""Small PNG files of a whole batch of images at once, for previews that nobody wrote a visualizer for.

Shows what `preview_png` of a small `LeapImage` shows, at a fraction of its cost: an evaluation draws every sample.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

from cutaway.arrays import Array, UInt8Array

__all__ = ["LONGEST", "thumbnails"]


# Larger images have to be made smaller first, which others do better.
LONGEST = 64
# Not compressed: that would take half of the time of all that an evaluation does beside the model. The file that holds
# the previews is, by something quicker. This is how much comes before the stored bytes.
STORED = 7
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_END = b"\0\0\0\0IEND\xaeB`\x82"


def thumbnails(images: Array, *, channels_first: bool = False) -> list[bytes]:
    """Return one PNG for each of [N, H, W, C] images with one or three channels, as large as they are.

    With `channels_first` they are [N, C, H, W].

    >>> thumbnails(np.zeros((1, 8, 8, 1), np.uint8))[0][1:4]
    b'PNG'
    """
    pixels = _as_bytes(images)
    height, width = pixels.shape[2:] if channels_first else pixels.shape[1:3]
    channels = pixels.shape[1] if channels_first else pixels.shape[3]
    # Every file of a batch has the same size and the same beginning: they are laid out at once, and sealed one by one.
    length = height * (1 + width * channels)
    beginning = _beginning(width, height, channels, length)
    start, stop = len(beginning), len(beginning) + length
    files = np.zeros((len(pixels), stop + 8 + len(_END)), np.uint8)
    files[:, :start] = np.frombuffer(beginning, np.uint8)
    files[:, stop + 8 :] = np.frombuffer(_END, np.uint8)
    # Each row of a PNG begins with how it is filtered: 0, not at all.
    rows = files[:, start:stop].reshape(len(pixels), height, 1 + width * channels)
    if channels_first:
        for channel in range(channels):
            rows[:, :, 1 + channel :: channels] = pixels[:, channel]
    else:
        rows[:, :, 1:] = pixels.reshape(len(pixels), height, width * channels)
    files[:, start:stop] = rows.reshape(len(pixels), length)
    return [_sealed(file, start, stop) for file in files]


def _beginning(width: int, height: int, channels: int, length: int) -> bytes:
    """Return all that comes before the pixels: one stored block of a zlib stream, in one chunk."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    stored = b"\x78\x01\x01" + struct.pack("<HH", length, length ^ 0xFFFF)
    chunk = struct.pack(">I", len(stored) + length + 4) + b"IDAT" + stored
    return _SIGNATURE + _chunk(b"IHDR", header) + chunk


def _sealed(file: UInt8Array, start: int, stop: int) -> bytes:
    """Return a file with its two checksums: of the pixels, and of the chunk that they lie in."""
    struct.pack_into(">I", file.data, stop, zlib.adler32(file[start:stop].data))
    chunk = start - STORED - len(b"IDAT")
    struct.pack_into(">I", file.data, stop + 4, zlib.crc32(file[chunk : stop + 4].data))
    return file.tobytes()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return b"".join((struct.pack(">I", len(data)), kind, data, struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))))


def _as_bytes(images: Array) -> UInt8Array:
    """Scale each image by the rule of `cutaway.dataset.value_range`."""
    if images.dtype == np.uint8:
        return images
    flat = np.asarray(images, np.float32).reshape(len(images), -1)
    if not np.isfinite(flat.sum()):
        flat = np.where(np.isfinite(flat), flat, 0)
    low, high = flat.min(axis=1), flat.max(axis=1)
    signed, large = low < 0, (high > 1) | (low < -1)
    white = np.where(signed, np.where(large, 3, 1), np.where(large, 255, 1)).astype(np.float32)
    black = np.where(signed, -white, 0).astype(np.float32)
    factor = (255 / (white - black)).astype(np.float32)
    flat = flat * factor[:, None]
    flat += (np.float32(0.5) - black * factor)[:, None]
    # Only what lies beyond -3 and 3, or 255, is cut off; everything else lies within by the choice of its range.
    if large.any():
        np.clip(flat, 0, 255, out=flat)
    return flat.astype(np.uint8).reshape(images.shape)
