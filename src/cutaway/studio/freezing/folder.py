"""Where a frozen copy goes: a new folder, an empty one, or an earlier copy of ours. It appears there whole.

Written beside its place and moved at the end; a copy that fails leaves what was there before.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cutaway.errors import ConfigurationError, StorageError

__all__ = ["MARKER", "copy_page", "whole_folder"]

MARKER = "cutaway-frozen.txt"
MARKED = "A frozen copy of a run: open index.html.\nMade by `cutaway studio RUN --export`, which replaces it here.\n"


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to write into; it takes its place when the block ends without an error."""
    place = folder.expanduser().absolute()
    _refuse_what_is_not_ours(place, str(folder))
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{place.name[:100]}.", dir=place.parent) as beside:
            made = Path(beside) / "new"
            made.mkdir()
            (made / MARKER).write_text(MARKED, "utf-8")
            yield made
            _refuse_what_is_not_ours(place, str(folder))
            if place.exists():
                place.rename(Path(beside) / "old")
            made.rename(place)
    except OSError as error:
        message = f"Cannot write {str(folder)!r}: {error.strerror or error}."
        raise StorageError(message, hint="Choose another folder for --export.", path=folder) from error


def copy_page(page: Path, made: Path) -> None:
    """Put the built page into a copy."""
    for path in sorted(page.rglob("*")):
        if path.is_file():
            target = made / path.relative_to(page)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def _refuse_what_is_not_ours(place: Path, named: str) -> None:
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        message = f"{named!r} is not a folder."
        raise ConfigurationError(message, hint="Give --export a folder that does not exist yet.")
    if place.is_dir() and not (place / MARKER).is_file() and any(place.iterdir()):
        message = f"The folder {named!r} is not empty and no earlier copy of ours, so nothing is written there."
        raise ConfigurationError(message, hint="Give --export a folder that does not exist yet.")
