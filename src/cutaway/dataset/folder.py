"""Images in folders as subsets: one folder a class, or images beside a labels.csv. Opens each image when asked for."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset.hugging_face import SPLITS
from cutaway.dataset.items import ItemSubset
from cutaway.dataset.subset import NamedParts
from cutaway.errors import BindingError, ConfigurationError

__all__ = ["Opening", "folder_subsets"]

# What Pillow reads without running anything; SVG is a program.
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF", "PPM")
SUFFIXES = frozenset((".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".pgm", ".ppm"))
# An image of more would take gigabytes as numbers; a file of a few kilobytes can claim any size.
MOST_PIXELS = 100_000_000
LABELS = "labels.csv"
FILE, LABEL = "file", "label"


@dataclass(frozen=True)
class _Picture:
    """One image of a subset: its path inside, its class, and what labels.csv tells beside."""

    path: str
    label: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


def folder_subsets(root: Path, opening: Opening, subset: str) -> tuple[list[ItemSubset], tuple[str, ...]]:
    """Return the subsets of a folder, and the classes that their images are of."""
    if not root.is_dir():
        raise BindingError(f"There is no folder {str(root)!r}.", path=root)
    folders = _splits(root) or {subset: root}
    found = {name: _pictures(folder) for name, folder in folders.items()}
    labels = tuple(sorted({one.label for pictures in found.values() for one in pictures if one.label is not None}))
    return [_subset(name, folders[name], pictures, labels, opening) for name, pictures in found.items()], labels


def _splits(root: Path) -> dict[str, Path]:
    """Return the folders that are named like subsets, by subset; empty where the folder itself is one."""
    splits: dict[str, Path] = {}
    for one in sorted(root.iterdir()):
        if one.is_dir() and one.name in SPLITS:
            other = splits.setdefault(SPLITS[one.name], one)
            if other is not one:
                raise BindingError(
                    f"Both {other.name!r} and {one.name!r} in {str(root)!r} are {SPLITS[one.name]}.", path=root
                )
    return splits


@dataclass(frozen=True)
class Opening:
    """How an image becomes an array."""

    size: tuple[int, int] | None
    mode: str | None
    scale: bool = field(kw_only=True)

    def array(self, path: Path) -> Array:
        """Return the pixels. What a file claims to be is read from its content, and refused before it is decoded."""
        try:
            return self._decoded(path)
        except (OSError, SyntaxError, ValueError) as error:
            # Cut short, garbled, or no image at all, whatever its name ends with.
            raise BindingError(f"{path.name!r} cannot be read as an image: {error}.") from error

    def _decoded(self, path: Path) -> Array:
        from PIL import Image

        try:
            # Pillow reads the size here, decodes nothing, and refuses what is far too large.
            image = Image.open(path, formats=FORMATS)
        except Image.DecompressionBombError as error:
            raise ValueError(f"it has more than the {MOST_PIXELS:,} pixels that an image may have") from error
        with image:
            if image.width * image.height > MOST_PIXELS:
                size = f"{image.width:,} x {image.height:,} pixels"
                raise ValueError(f"it has {size}, and an image may have at most {MOST_PIXELS:,}")
            converted = image.convert(self.mode or ("L" if image.mode in ("1", "L") else "RGB"))
            if self.size is not None:
                converted = converted.resize((self.size[1], self.size[0]))
            pixels = np.asarray(converted)
        with_channels = pixels if pixels.ndim == 3 else pixels[..., None]
        return with_channels.astype(np.float32) / 255 if self.scale else with_channels


def _subset(name: str, folder: Path, pictures: list[_Picture], labels: tuple[str, ...], opening: Opening) -> ItemSubset:
    if not pictures:
        message = f"{str(folder)!r} has no images."
        raise BindingError(
            message,
            hint=(
                f"Put one folder for each class there, or images and a {LABELS} with the columns {FILE} and {LABEL}; "
                f"images end with {', '.join(sorted(SUFFIXES))}."
            ),
            path=folder,
        )
    index_of = {label: i for i, label in enumerate(labels)}

    def fetch(index: int) -> NamedParts:
        one = pictures[index]
        truths = {} if one.label is None else {"label": np.asarray(index_of[one.label])}
        return NamedParts({"image": opening.array(folder / one.path)}, truths, one.metadata)

    ids = [one.path for one in pictures]
    return ItemSubset(name, len(pictures), fetch, ids)


def _pictures(folder: Path) -> list[_Picture]:
    if (folder / LABELS).exists():
        return _pictures_of_labels_file(folder)
    classes = sorted(one for one in folder.iterdir() if one.is_dir() and not one.name.startswith("."))
    in_classes = [
        _Picture(file.relative_to(folder).as_posix(), label=one.name) for one in classes for file in _images(one)
    ]
    return in_classes or [_Picture(file.name) for file in _images(folder)]


def _images(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())


def _pictures_of_labels_file(folder: Path) -> list[_Picture]:
    """Read labels.csv; a file that it names must lie inside the folder."""
    with (folder / LABELS).open(newline="", encoding="utf-8-sig") as lines:
        reader = csv.DictReader(lines)
        _refuse_other_columns(reader.fieldnames or (), folder)
        pictures = []
        for row in reader:
            place = f"{folder / LABELS}:{reader.line_num}"
            file = folder / row[FILE]
            if not file.resolve().is_relative_to(folder.resolve()):
                raise BindingError(f"{place}: {row[FILE]!r} lies outside of the folder.")
            if not file.is_file():
                raise BindingError(f"{place}: there is no file {row[FILE]!r}.")
            rest = {key: value for key, value in row.items() if key not in (FILE, LABEL) and key is not None}
            pictures.append(_Picture(row[FILE], row[LABEL] or None, rest))
    numeric = (
        {key: number for key in pictures[0].metadata if (number := _number_type_of_column(pictures, key))}
        if pictures
        else {}
    )
    return [replace(one, metadata=_typed(one.metadata, numeric)) for one in pictures]


def _number_type_of_column(pictures: list[_Picture], column: str) -> type[int] | type[float] | None:
    """What a column of text holds throughout: whole numbers, numbers, or neither. Empty cells are missing values."""
    cells = [one.metadata[column] for one in pictures if one.metadata[column]]
    for kind in (int, float):
        try:
            for cell in cells:
                kind(cell)
        except ValueError:
            continue
        return kind if cells else None
    return None


def _typed(row: dict[str, Any], numeric: dict[str, type[int] | type[float]]) -> dict[str, Any]:
    return {key: (numeric[key](cell) if cell else None) if key in numeric else cell for key, cell in row.items()}


def _refuse_other_columns(columns: Sequence[str], folder: Path) -> None:
    if FILE not in columns or LABEL not in columns:
        message = f"{folder / LABELS}:1: it must have the columns {FILE} and {LABEL}, but has {', '.join(columns)}."
        raise ConfigurationError(message)
