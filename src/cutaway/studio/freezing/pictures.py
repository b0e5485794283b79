"""The small pictures of a frozen copy, as files that an `<img>` loads: of the samples that its pages name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cutaway.studio.freezing.taking import Taker

__all__ = ["MOST_PICTURES", "write_pictures"]

MOST_PICTURES = 2000


def write_pictures(take: Taker, folder: Path, samples: Iterable[str], most: int = MOST_PICTURES) -> list[str]:
    """Write the pictures of the first samples that have one; return those samples, a picture's name is its place."""
    folder.mkdir()
    written: list[str] = []
    for sample in dict.fromkeys(samples):
        if len(written) >= most:
            take.left_out.append(f"Pictures of samples beyond the first {most:,}.")
            break
        picture = take.picture(sample)
        if picture is not None:
            (folder / f"{len(written)}.png").write_bytes(picture)
            written.append(sample)
    return written
