"""Pages lead to each other: every link resolves, and every page can be reached."""

import re
from pathlib import Path

import pytest

from scripts.requirements import ROOT
from tests.docs.pages import DOCS, PAGES, page_name, prose

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def links(page: Path) -> list[tuple[Path, str]]:
    """The files that a page links to, with the anchor in each."""
    found = []
    for target in LINK.findall(prose(page)):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            found.append(((page.parent / path).resolve() if path else page, anchor))
    return found


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"(?m)^#+ (.+)$", prose(page))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, anchor in links(page):
        assert target.exists(), f"{page_name(page)} links to {target}"
        assert target.is_relative_to(ROOT)
        assert not anchor or anchor in anchors(target), f"{page_name(page)} links to #{anchor} of {page_name(target)}"


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        waiting += [target for target, _ in links(page) if target.suffix == ".md" and target.is_relative_to(DOCS)]
    assert [page_name(page) for page in PAGES if page not in reached] == []


def test_the_index_lists_every_page() -> None:
    """But pages of one rule or decision each, which have indexes of their own."""
    listed = {target for target, _ in links(DOCS / "index.md")}
    own = {DOCS / "decisions", DOCS / "reference" / "rules"}
    pages = {page for page in DOCS.rglob("*.md") if page.parent not in own or page.name == "README.md"}
    assert sorted(page_name(page) for page in pages - listed - {DOCS / "index.md"}) == []


def test_every_decision_is_dated_and_listed() -> None:
    listed = (DOCS / "decisions" / "README.md").read_text(encoding="utf-8")
    decisions = sorted((DOCS / "decisions").glob("0*.md"))
    assert [page.name[:4] for page in decisions] == [f"{number:04}" for number in range(1, len(decisions) + 1)]
    for page in decisions:
        assert f"[{page.name[:4]}]({page.name})" in listed
        assert re.match(r"# \d{4}: .+\n\n\d{4}-\d\d-\d\d\n", page.read_text(encoding="utf-8")), page.name


def test_the_readme_has_the_two_commands_and_a_short_example() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "$ make demo" in text
    assert "$ make test" in text
    example = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert example
    assert len([line for line in example[1].splitlines() if line]) <= 12
    for word in ("CUTAWAY_TORCH", "cpu", "cuda", "keep", "make help"):
        assert word in text
