"""Every example in the documentation runs, and so does every example in a docstring."""

import doctest
import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

import cutaway
from tests.docs.pages import PAGES, page_name

PACKAGE = Path(cutaway.__path__[0])
WITH_EXAMPLES = [path for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
# What they do has tests of its own: retraining several times, the example of the digits, a frozen copy in a browser, a
# training that is told what to do, reports, tests of slices, questions to the studio, files read without Cutaway.
LONG = {
    "docs/tutorial/watch-digits.md",
    "docs/how-to/control-a-training.md",
    "docs/how-to/add-a-visualizer.md",
    "docs/explanation/what-is-lost-in-a-kill.md",
    "docs/how-to/mail-a-report.md",
    "docs/how-to/gate-a-release-in-ci.md",
    "docs/how-to/ask-the-studio-from-a-program.md",
    "docs/reference/format.md",
    "docs/how-to/which-labels-are-wrong.md",
    "docs/how-to/bind-a-dataset.md",
    "docs/how-to/share-a-frozen-run.md",
}


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.slow] * (page_name(page) in LONG)) for page in PAGES], ids=page_name
)
def test_every_example_of_a_page_runs(page: Path, run_page: Callable[[Path], int]) -> None:
    run_page(page)


def test_every_example_in_a_docstring_gives_what_it_says() -> None:
    names = [".".join(("cutaway", *path.relative_to(PACKAGE).with_suffix("").parts)) for path in WITH_EXAMPLES]
    results = {name: doctest.testmod(importlib.import_module(name.removesuffix(".__init__"))) for name in names}
    assert sum(one.attempted for one in results.values()) > 100
    assert [name for name, one in results.items() if one.failed] == []
