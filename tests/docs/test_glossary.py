"""The words of the glossary are all there, and what each entry points to exists."""

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from scripts.reference_cli import command_paths
from scripts.requirements import ROOT
from tests.docs.pages import DOCS

WORDS = [
    *("Run", "Attempt", "Step", "Mode", "Tensor", "Collection", "Sample", "Subset"),
    *("Evaluation", "Space", "Population", "Analysis", "Finding", "Insight", "Slice", "Overlay", "Job", "Version"),
]
REFERENCE = DOCS / "reference"
FORMAT = (REFERENCE / "format.md").read_text(encoding="utf-8")
HTTP = (REFERENCE / "http-api.md").read_text(encoding="utf-8")
ADDRESSES = (ROOT / "ui" / "src" / "lib" / "address.ts").read_text(encoding="utf-8")


def entries() -> dict[str, str]:
    """The text of each entry by its heading."""
    parts = re.split(r"(?m)^## (.+)\n", (REFERENCE / "glossary.md").read_text(encoding="utf-8"))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def exists_in_python(name: str) -> bool:
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: Any = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[end:]:
            if not hasattr(found, attribute):
                return False
            found = getattr(found, attribute)
        return True
    return False


def is_a_page(address: str) -> bool:
    return f'"{address.removeprefix("runs/ID").removesuffix("/ID").strip("/") or "run"}"' in ADDRESSES


PLACES: dict[str, Callable[[str], bool]] = {
    "Python": exists_in_python,
    "Commands": lambda command: command == "RUN" or command in command_paths(),
    "Files": lambda name: name in FORMAT,
    "HTTP": lambda route: re.search(rf"(?m)^### `[A-Z]+ {re.escape(route)}`$", HTTP) is not None,
    "Page": is_a_page,
}


def test_every_word_has_its_entry_in_the_order_of_the_design() -> None:
    assert list(entries()) == WORDS


@pytest.mark.parametrize("word", WORDS)
def test_what_an_entry_points_to_exists(word: str) -> None:
    text = entries()[word]
    assert text.split("\n- ")[0].strip(), "it says what the word means"
    places = dict(re.findall(r"(?m)^- (\w+): (.+)$", text))
    assert list(places) == list(PLACES)
    names = {place: re.findall("`([^`]+)`", line) for place, line in places.items()}
    assert all(names.values())
    assert [name for place in names for name in names[place] if not PLACES[place](name)] == []


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("Python", "cutaway.run.Rum"),
        ("Commands", "cutaway run"),
        ("Files", "runs.json"),
        ("HTTP", "/api/run"),
        ("Page", "runs/ID/tensor"),
    ],
)
def test_a_name_that_does_not_exist_is_noticed(place: str, name: str) -> None:
    assert not PLACES[place](name)
