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


# As they stood on the page, in commands and in the demo.
STOPPED = (
    "the training closed it",
    "no rule has looked at it yet",
    "The model cannot be asked.",
    "It can be looked at, but not asked, since its samples are not to be had",
    "made from a data set in Python; no file brings it back",
    "<h2>Ask the training</h2>",
    "<h2>What was asked</h2>",
    "Reason, which the run keeps",
    "Why, if it should be said",
    "Samples of these steps are not known",
    "16 of the 20 nearest are labelled 5",
    "this one is labelled 3, as 1 of them is.",
    "a linear fit without it is against its label by 1.31",
    "334 labels are more likely wrong than right, and about 278 of these are",
    "training has its share, 796 like this, and they do not suffice",
    "of training, which models know by heart",
    "Nobody has looked yet for what is systematically wrong",
    "5 taken for 3",
    "21 answers",
    "<span>by ratio</span>",
    "Against the loss",
    "bought +0.9 points [-3.0, +4.9]",
    "which could be chance",
)


@pytest.mark.parametrize("text", STOPPED)
def test_each_sentence_that_made_people_stop_is_found(text: str) -> None:
    assert old_sentences(text)


@pytest.mark.parametrize(
    "text",
    [
        "Completed normally",
        "You can inspect the model but not run it: the data set isn't available",
        "This data set existed only in memory",
        "Control this run",
        "16 of 20 neighbours are labelled 5; only 1 shares its label, 3.",
        "334 suspicious labels; expect about 278 to be wrong",
        "21 results",
        "5 predicted as 3",
        '"""Ask the training to stop."""',
        "+0.9 points [-3.0, +4.9]: not significant",
        "answers the question",
        "what a correction bought",
    ],
)
def test_what_stands_in_their_place_is_left_alone(text: str) -> None:
    assert old_sentences(text) == []
