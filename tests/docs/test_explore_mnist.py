"""The MNIST tutorial tells what its scripts do and found: its code is theirs, its numbers are those of claims.json."""

import json
import re

import pytest

from scripts.requirements import ROOT
from tests.docs.pages import DOCS

PAGE = (DOCS / "tutorial" / "explore-mnist.md").read_text(encoding="utf-8")
IMAGES = DOCS / "images" / "mnist"
CLAIMS = json.loads((IMAGES / "claims.json").read_text(encoding="utf-8"))
SCRIPTS = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples" / "explore_mnist").glob("*.py"))]
LARGEST = 150_000


def lines(text: str) -> str:
    """Text without indentation and empty lines: a part of a function stands on the page by itself."""
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


@pytest.mark.parametrize("block", re.findall(r"(?ms)^```python\n(.*?)^```", PAGE))
def test_the_code_of_the_page_is_that_of_the_scripts(block: str) -> None:
    assert any(lines(block) in lines(script) for script in SCRIPTS)


@pytest.mark.parametrize("name", CLAIMS)
def test_every_claim_is_on_the_page_in_its_own_words_and_holds(name: str) -> None:
    assert CLAIMS[name]["holds"]
    assert CLAIMS[name]["said"] in PAGE


def test_every_figure_is_on_the_page_described_and_small() -> None:
    shown = {name: words for words, name in re.findall(r"!\[([^\]]+)\]\(\.\./images/mnist/([^)]+)\)", PAGE)}
    assert set(shown) == {path.name for path in IMAGES.glob("*.png")}
    assert min(len(words) for words in shown.values()) > 20
    assert max(path.stat().st_size for path in IMAGES.glob("*.png")) < LARGEST
