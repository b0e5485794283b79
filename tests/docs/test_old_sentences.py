"""What Cutaway says is said as a native speaker would: the sentences that made people stop are gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.old_sentences import old_sentences

ROOT = Path(__file__).parents[2]
KINDS = {".py", ".md", ".ts", ".svelte", ".js", ".html", ".css"}


def said() -> Iterator[Path]:
    """Yield every file whose words people read: source, page, documentation and examples."""
    yield ROOT / "README.md"
    for folder in ("src/cutaway", "ui/src", "docs", "examples"):
        for path in sorted((ROOT / folder).rglob("*")):
            # The built page is made of ui/src.
            if path.suffix in KINDS and "static" not in path.parts and ".test." not in path.name:
                yield path


def test_no_old_sentence_is_left_in_source_page_or_documentation() -> None:
    found = {str(path.relative_to(ROOT)): old_sentences(path.read_text(encoding="utf-8")) for path in said()}
    assert {path: sentences for path, sentences in found.items() if sentences} == {}


@pytest.mark.parametrize(
    "text",
    [
        'RunWords("the training closed it", look)',
        'f"334 labels are more likely wrong "\n    f"than right, and about 278 of these"',
        "16 of the 20 nearest\n   are labelled 5",
        "{name(from)} taken for {name(to)}",
        "this one is labelled 3, as 1 of them is.",
        "<h2>Ask the training</h2>",
        "${flat.length} answers`",
    ],
)
def test_an_old_sentence_is_found_however_it_is_broken(text: str) -> None:
    assert old_sentences(text)


@pytest.mark.parametrize(
    "text", ["Completed normally", "21 results", "5 predicted as 3", '"""Ask the training to stop."""']
)
def test_a_good_sentence_is_left_alone(text: str) -> None:
    assert old_sentences(text) == []
