"""The pages of the documentation, and what the tests read out of them."""

import re
from pathlib import Path

from scripts.requirements import ROOT

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

_FENCE = re.compile(r"(?ms)^( *)```.*?^\1```")


def page_name(page: Path) -> str:
    """What a page is called in the name of a test."""
    return page.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    """A page without its code blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))
