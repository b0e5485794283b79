"""Sentences of documentation, and which package each one is from. Reads files; imports none of these packages.

They are the docstrings of parts of SciPy, scikit-learn and PyTorch as they are installed here. Other versions have a
few other sentences; a sentence that stays keeps its id and its subset, for both come from a hash of its words.
"""

import ast
import hashlib
import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PARTS = {
    "scipy": ("signal",),
    "sklearn": ("linear_model", "ensemble", "cluster", "model_selection"),
    "torch": ("nn/modules", "nn/functional.py", "optim"),
}
LABELS = list(PARTS)
SHORTEST, LONGEST = 8, 32

# With the packages' own names in it the task would be none.
NAMES = {"scipy", "scikit", "sklearn", "torch", "pytorch", "numpy", "np"}
NUMBER = "<number>"

# What shows in which style a package writes, and not what about: `axis : int, optional` and `Args:`, which stand alone,
# `input (Tensor): `, before what is said about it, `:attr:`, before a name, and `<target>`, behind the words of a link.
_TITLE = re.compile(r"\s*([\w*, .`]+ : .*|\w+:)$")
_PARAMETER = re.compile(r"^[\w*, .`]+(\([^)]*\))?: ")
_MARKUP = re.compile(r":\w+:(?=`)|\s*<[^<>]*>(?=`)")

_SUBSETS = ("training",) * 14 + ("validation",) * 3 + ("test",) * 3


@dataclass(frozen=True)
class Sentence:
    """One sentence as it was written, its words, and the package whose documentation has it."""

    text: str
    words: tuple[str, ...]
    label: int

    @property
    def digest(self) -> str:
        """Twelve characters that only the words decide."""
        return hashlib.sha256(" ".join(self.words).encode()).hexdigest()[:12]

    @property
    def subset(self) -> str:
        """Of 20 sentences about 14 are for training, 3 for validation and 3 for the test."""
        return _SUBSETS[int(self.digest, 16) % len(_SUBSETS)]


def read_sentences() -> list[Sentence]:
    """Return all sentences by their digest, each once; what two packages say alike is in none."""
    found: dict[tuple[str, ...], Sentence | None] = {}
    for label, package in enumerate(LABELS):
        for text in _texts(package):
            words = words_of(text)
            if SHORTEST <= len(words) <= LONGEST:
                earlier = found.setdefault(words, Sentence(text, words, label))
                if earlier is not None and earlier.label != label:
                    found[words] = None
    return sorted((one for one in found.values() if one is not None), key=lambda one: one.digest)


def words_of(text: str) -> tuple[str, ...]:
    """Return the words in small letters, one sign for every number, without the names of packages."""
    words = re.findall(r"[a-z]+|[0-9]+", text.lower())
    return tuple(NUMBER if word.isdigit() else word for word in words if word not in NAMES)


def _texts(package: str) -> Iterator[str]:
    for path in _files(package):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield from _prose(ast.get_docstring(node) or "")


def _files(package: str) -> Iterator[Path]:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"{package} is not installed. Run: pip install 'cutaway[demo]'")
    for part in PARTS[package]:
        place = Path(spec.submodule_search_locations[0]) / part
        yield from [place] if place.is_file() else sorted(place.glob("*.py"))


def _prose(docstring: str) -> Iterator[str]:
    """Yield what begins with a capital letter and ends with a full stop; no code, tables or titles."""
    for paragraph in re.split(r"\n\s*\n", docstring):
        if re.search(r">>>|---|===|::|\.\. |\[\d+\]", paragraph):
            continue
        lines = [line.strip() for line in paragraph.splitlines() if not _TITLE.match(line)]
        for text in re.split(r"(?<=[.!?])\s+(?=[A-Z])", " ".join(_PARAMETER.sub("", line) for line in lines)):
            if re.match(r"[A-Z].*\.$", text):
                yield _MARKUP.sub("", text)
